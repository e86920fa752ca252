import { z } from "zod";
import type { OrgId } from "@/server/auth/actor";
import { Prisma } from "@/server/db/generated/client";
import { RUN_PERIODS, RUN_SOURCES, RUN_STATUSES, type RunPeriod } from "@/server/runs/words";

/** Which runs a list, an export or a chart is about. Every field narrows; an empty filter means all runs. */
export const runFilter = z.object({
  status: z.array(z.enum(RUN_STATUSES)).max(5).optional(),
  kind: z.enum(["agent", "tool"]).optional(),
  source: z.enum(RUN_SOURCES).optional(),
  agentId: z.uuid().optional(),
  toolId: z.uuid().optional(),
  triggerId: z.uuid().optional(),
  apiKeyId: z.uuid().optional(),
  /** The last hour, day, week or month, counted from now. */
  period: z.enum(RUN_PERIODS).optional(),
  /** Created at or after / before this moment. */
  from: z.iso.datetime().optional(),
  to: z.iso.datetime().optional(),
  /** Text in the input, the output or the error, or the start of a run's id. */
  text: z.string().trim().max(200).optional(),
});
export type RunFilter = z.infer<typeof runFilter>;

const PERIOD_MS: Record<RunPeriod, number> = {
  "1h": 3_600_000,
  "24h": 86_400_000,
  "7d": 7 * 86_400_000,
  "30d": 30 * 86_400_000,
};

/**
 * How a text is searched: `index` asks the index of words for all its runs first; `ended` is the same for runs that
 * have ended only, and lets the other conditions' indexes help; `rows` reads every row that the other conditions
 * leave: right for a few, wrong for all.
 */
export type TextSearch = "index" | "ended" | "rows";

/** Ids are made a moment before or after `createdAt` is read; this much is allowed for. */
const ID_SLACK_MS = 3_600_000;

/**
 * The WHERE conditions (over `runs r`) of a filter within one organization. Times also bound the id, which is
 * a UUID v7, so that the index on (organization, id) serves them.
 */
export function runConditions(
  orgId: OrgId,
  filter: RunFilter,
  now: Date,
  search: TextSearch = "index",
): Prisma.Sql[] {
  const conditions = [Prisma.sql`r.organization_id = ${orgId}::uuid`];
  if (filter.status?.length) {
    conditions.push(Prisma.sql`r.status = ANY (${filter.status}::run_status[])`);
  }
  if (filter.kind) conditions.push(Prisma.sql`r.kind = ${filter.kind}::run_kind`);
  if (filter.source) conditions.push(Prisma.sql`r.source = ${filter.source}::run_source`);
  if (filter.agentId) conditions.push(Prisma.sql`r.agent_id = ${filter.agentId}::uuid`);
  if (filter.toolId) conditions.push(Prisma.sql`r.tool_id = ${filter.toolId}::uuid`);
  if (filter.triggerId) conditions.push(Prisma.sql`r.trigger_id = ${filter.triggerId}::uuid`);
  if (filter.apiKeyId) conditions.push(Prisma.sql`r.api_key_id = ${filter.apiKeyId}::uuid`);
  const from = filter.period
    ? new Date(now.getTime() - PERIOD_MS[filter.period])
    : filter.from
      ? new Date(filter.from)
      : undefined;
  if (from) {
    const floor = idFloor(new Date(from.getTime() - ID_SLACK_MS));
    conditions.push(Prisma.sql`r.created_at >= ${from} AND r.id >= ${floor}::uuid`);
  }
  if (filter.to) {
    const to = new Date(filter.to);
    const ceiling = idFloor(new Date(to.getTime() + ID_SLACK_MS));
    conditions.push(Prisma.sql`r.created_at < ${to} AND r.id < ${ceiling}::uuid`);
  }
  if (filter.text) conditions.push(textCondition(orgId, filter.text, search));
  return conditions;
}

/** The smallest UUID v7 of a moment. */
export function idFloor(at: Date): string {
  const hex = Math.max(0, at.getTime()).toString(16).padStart(12, "0");
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-7000-8000-000000000000`;
}

/** 8 and more hexadecimal digits of a UUID. */
const ID_START = /^[0-9a-f]{8}[0-9a-f-]{0,28}$/i;

function textCondition(orgId: OrgId, text: string, search: TextSearch): Prisma.Sql {
  if (ID_START.test(text)) return idCondition(text);
  const query = Prisma.sql`run_words_query(${orgId}::uuid, ${text})`;
  const words = (table: Prisma.Sql) =>
    Prisma.sql`run_words(${table}.organization_id, ${table}.input, ${table}.output, ${table}.error_message) @@ ${query}`;
  // Runs that have not ended are few and not in the index: they are read, letter by letter.
  const pattern = `%${text.replace(/[\\%_]/g, (character) => `\\${character}`)}%`;
  if (search === "ended") return Prisma.sql`r.finished_at IS NOT NULL AND ${words(Prisma.sql`r`)}`;
  if (search === "rows") {
    return Prisma.sql`CASE WHEN r.finished_at IS NOT NULL THEN ${words(Prisma.sql`r`)} ELSE r.input ILIKE ${pattern} END`;
  }
  return Prisma.sql`r.id IN (
    SELECT w.id FROM runs w WHERE w.finished_at IS NOT NULL AND ${words(Prisma.sql`w`)}
    UNION ALL
    SELECT o.id FROM runs o
    WHERE o.organization_id = ${orgId}::uuid AND o.status IN ('Pending', 'Running') AND o.input ILIKE ${pattern})`;
}

/** Ids that begin with these digits, as a range of the index. */
function idCondition(text: string): Prisma.Sql {
  const digits = text.toLowerCase().replaceAll("-", "");
  const bound = (filler: string) => {
    const full = digits.padEnd(32, filler);
    return [0, 8, 12, 16, 20].map((from, part) => full.slice(from, [8, 12, 16, 20, 32][part])).join("-");
  };
  return Prisma.sql`r.id BETWEEN ${bound("0")}::uuid AND ${bound("f")}::uuid`;
}
