import { z } from "zod";
import type { OrgId } from "@/server/base/actor";
import { Prisma } from "@/server/base/db/generated/client";
import { RUN_KINDS, RUN_SOURCES } from "@/server/contract/enums";
import { idInput } from "@/server/contract/ids";
import { replaceNul } from "@/server/guard/secrets/stored-output";
import {
  LISTED_STATUSES,
  type ListedStatus,
  MAX_SEARCH_LENGTH,
  PERIOD_MS,
  RUN_PERIODS,
  SOURCE_CHOICES,
} from "../enums";

// No run is older than 1970, and PostgreSQL has no year 0.
const moment = z.iso.datetime({ abort: true }).refine((text) => Date.parse(text) >= 0, "is before 1970");
const credits = z.string().regex(/^\d{1,12}(\.\d{1,4})?$/, "must be a decimal with at most four places");

/** Selects the runs of a list, an export or a chart. Every field narrows it; an empty filter means all runs. */
export const runFilter = z.object({
  status: z.array(z.enum(LISTED_STATUSES)).max(LISTED_STATUSES.length).optional(),
  kind: z.enum(RUN_KINDS).optional(),
  source: z.enum(SOURCE_CHOICES).optional(),
  agentId: idInput().optional(),
  toolId: idInput().optional(),
  targetIds: z.array(idInput()).optional(),
  triggerId: idInput().optional(),
  scheduleId: idInput().optional(),
  apiKeyId: idInput().optional(),
  userId: idInput().optional(),
  period: z.enum(RUN_PERIODS).optional(),
  /** From is inclusive, to is exclusive. */
  from: moment.optional(),
  to: moment.optional(),
  /** Of an open run, the figures so far; a queued one has no duration. */
  minDurationMs: z.int().min(0).optional(),
  maxDurationMs: z.int().min(0).optional(),
  minTokens: z.int().min(0).optional(),
  maxTokens: z.int().min(0).optional(),
  /** With child runs. */
  minCredits: credits.optional(),
  maxCredits: credits.optional(),
  /** Keys of the metadata with their values as texts. */
  metadata: z.record(z.string().transform(replaceNul), z.string().transform(replaceNul)).optional(),
  /**
   * Words of the texts, or the start of a run's id (docs/dashboard.md, "Search inputs and outputs"). The index
   * stores as many letters of a word as this allows.
   */
  text: z.string().trim().max(MAX_SEARCH_LENGTH).transform(replaceNul).optional(),
});
export type RunFilter = z.infer<typeof runFilter>;

// Ids are generated a moment before or after `createdAt`.
const ID_SLACK_MS = 3_600_000;

/**
 * A filter's WHERE conditions without its text, for the columns of run-rows.ts as `r`. Times also bound the id, a
 * UUID v7, for indexes that end in it.
 */
export function runConditions(orgId: OrgId, filter: RunFilter, now: Date): Prisma.Sql[] {
  const conditions = exactConditions(orgId, filter, now);
  if (filter.status?.length) conditions.push(statusCondition(filter.status));
  if (filter.source === "outside") conditions.push(Prisma.sql`r.source <> 'run'`);
  else if (filter.source === "saved") conditions.push(Prisma.sql`r.source <> 'draft'`);
  else if (filter.source) conditions.push(Prisma.sql`r.source = ${filter.source}::run_source`);
  const { targetIds } = filter;
  // PostgreSQL reads rows in the order of an index only for a single value.
  if (targetIds?.length === 1) conditions.push(Prisma.sql`r.target_id = ${targetIds[0]}::uuid`);
  else if (targetIds) conditions.push(Prisma.sql`r.target_id = ANY (${targetIds}::uuid[])`);
  for (const [field, column] of ID_COLUMNS) {
    if (filter[field]) conditions.push(Prisma.sql`${column} = ${filter[field]}::uuid`);
  }
  return conditions;
}

function statusCondition(statuses: readonly ListedStatus[]): Prisma.Sql {
  const stored = statuses.filter((each) => each !== "Waiting");
  const hasStored = Prisma.sql`r.status = ANY (${stored}::run_status[])`;
  const waits = statuses.includes("Waiting");
  if (statuses.includes("Running")) return waits ? hasStored : Prisma.sql`(${hasStored} AND NOT r.waiting)`;
  return waits ? Prisma.sql`(${hasStored} OR r.waiting)` : hasStored;
}

const ID_COLUMNS = [
  ["agentId", Prisma.sql`r.target_id`],
  ["toolId", Prisma.sql`r.target_id`],
  ["triggerId", Prisma.sql`r.trigger_id`],
  // A run has one of both, in one column.
  ["scheduleId", Prisma.sql`r.trigger_id`],
  ["apiKeyId", Prisma.sql`r.api_key_id`],
  ["userId", Prisma.sql`r.user_id`],
] as const;

/** The conditions that the inverted index cannot answer exactly: organization, times, sizes, and the kind of target. */
export function exactConditions(orgId: OrgId, filter: RunFilter, now: Date): Prisma.Sql[] {
  const conditions = [Prisma.sql`r.organization_id = ${orgId}::uuid`];
  const kinds = [filter.kind, filter.agentId && "agent", filter.toolId && "tool"];
  for (const kind of kinds) if (kind) conditions.push(Prisma.sql`r.kind = ${kind}::run_kind`);
  const { from, to } = timesOf(filter, now);
  if (from)
    conditions.push(Prisma.sql`r.created_at >= ${from} AND r.id >= ${idFloor(from, -ID_SLACK_MS)}::uuid`);
  if (to) conditions.push(Prisma.sql`r.created_at < ${to} AND r.id < ${idFloor(to, ID_SLACK_MS)}::uuid`);
  for (const { min, max, column } of SIZES) {
    const [least, most] = [filter[min], filter[max]];
    if (least !== undefined) conditions.push(Prisma.sql`${column} >= ${String(least)}::numeric`);
    if (most !== undefined) conditions.push(Prisma.sql`${column} <= ${String(most)}::numeric`);
  }
  return conditions;
}

function timesOf(filter: RunFilter, now: Date): { from: Date | undefined; to: Date | undefined } {
  const since = filter.period && new Date(now.getTime() - PERIOD_MS[filter.period]);
  const from = filter.from === undefined ? undefined : new Date(filter.from);
  return {
    // If both are given, the later one is effective.
    from: since && from && since > from ? since : (from ?? since),
    to: filter.to === undefined ? undefined : new Date(filter.to),
  };
}

function idFloor(at: Date, byMs: number): string {
  const hex = Math.max(0, at.getTime() + byMs)
    .toString(16)
    .padStart(12, "0");
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-7000-8000-000000000000`;
}

/**
 * The range of ids for a filter's times: `above` inclusive, `below` exclusive. For reading an organization's runs from
 * the newest.
 */
export function idBounds(filter: RunFilter, now: Date): { above: string; below: string } {
  const { from, to } = timesOf(filter, now);
  return {
    above: from ? idFloor(from, -ID_SLACK_MS) : "00000000-0000-0000-0000-000000000000",
    below: to ? idFloor(to, ID_SLACK_MS) : "ffffffff-ffff-ffff-ffff-ffffffffffff",
  };
}

/** Returns true if a filter has sizes, which no B-tree has. */
export function asksForSizes(filter: RunFilter): boolean {
  return SIZES.some(({ min, max }) => filter[min] !== undefined || filter[max] !== undefined);
}

const pairsOf = ({ metadata = {} }: RunFilter) => Object.entries(metadata);

/** The conditions of a filter's metadata, for rows of `runs` as `r`. */
export function metadataConditions(filter: RunFilter): Prisma.Sql[] {
  return pairsOf(filter).map(
    ([key, value]) => Prisma.sql`r.metadata::json ->> ${key}::text = ${value}::text`,
  );
}

/** The same as queries for the words of one scope. */
export function metadataQueries(filter: RunFilter, scope: Prisma.Sql): Prisma.Sql[] {
  return pairsOf(filter).map(
    ([key, value]) => Prisma.sql`
      quote_lexeme(${scope} || ':' || metadata_words(json_build_object(${key}::text, ${value}::text)::text))::tsquery`,
  );
}

const SIZES = [
  { letter: "d", min: "minDurationMs", max: "maxDurationMs", unit: 1, column: Prisma.sql`r.duration_ms` },
  { letter: "t", min: "minTokens", max: "maxTokens", unit: 1, column: Prisma.sql`r.tokens` },
  { letter: "c", min: "minCredits", max: "maxCredits", unit: 10_000, column: Prisma.sql`r.credits` },
] as const;
const LAST_CLASS = 100;
const allBut = (left: string) => RUN_SOURCES.filter((source) => source !== left).join(" ");
const ALTERNATIVES: Record<string, string> = { outside: allBut("run"), saved: allBut("draft") };

/**
 * Terms for the inverted index: one entry per condition, alternatives separated by spaces. The outermost classes of
 * sizes may include runs that do not match.
 */
export function facetsOf(filter: RunFilter): string[] {
  const facets: string[] = [];
  if (filter.status?.length) facets.push(filter.status.join(" "));
  if (filter.source) facets.push(ALTERNATIVES[filter.source] ?? filter.source);
  if (filter.targetIds?.length) facets.push(filter.targetIds.join(" ").toLowerCase());
  for (const field of ["kind", ...ID_COLUMNS.map(([name]) => name)] as const) {
    const value = filter[field];
    if (value) facets.push(value.toLowerCase());
  }
  for (const { letter, min, max, unit } of SIZES) {
    const [least, most] = [filter[min], filter[max]];
    if (least === undefined && most === undefined) continue;
    // One more class on either side: logarithms may differ in their last digit.
    const first = least === undefined ? 0 : Math.max(0, sizeClass(Number(least) * unit) - 1);
    const last = most === undefined ? LAST_CLASS : Math.min(LAST_CLASS, sizeClass(Number(most) * unit) + 1);
    facets.push(
      Array.from({ length: Math.max(1, last - first + 1) }, (_, n) => `${letter}${first + n}`).join(" "),
    );
  }
  return facets;
}

// Equals run_size_class in the database.
function sizeClass(size: number): number {
  return size <= 0 ? 0 : Math.max(1, 1 + Math.floor((2 * Math.log(size)) / Math.LN2));
}

const ID_START = /^[0-9a-f]{8}[0-9a-f-]{0,28}$/i;

// Other ids are order numbers, dates or other systems' UUIDs.
const RUN_TIMES = { from: Date.UTC(2020, 0), until: Date.UTC(2100, 0) };

/** The condition that an id begins with these digits, as a range of ids; null if no run's id does. */
export function idCondition(text: string): Prisma.Sql | null {
  if (!ID_START.test(text)) return null;
  const digits = text.toLowerCase().replaceAll("-", "");
  // From the 48 bits of a UUID v7's milliseconds.
  const madeAt = Number.parseInt(digits.slice(0, 8), 16) * 2 ** 16;
  if (madeAt < RUN_TIMES.from || madeAt > RUN_TIMES.until) return null;
  const bound = (filler: string) => {
    const full = digits.padEnd(32, filler);
    return [0, 8, 12, 16, 20].map((from, part) => full.slice(from, [8, 12, 16, 20, 32][part])).join("-");
  };
  return Prisma.sql`r.id BETWEEN ${bound("0")}::uuid AND ${bound("f")}::uuid`;
}
