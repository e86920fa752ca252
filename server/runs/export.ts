import { z } from "zod";
import type { MemberActor } from "@/server/auth/actor";
import { Prisma } from "@/server/db/generated/client";
import { readUnhurried } from "@/server/db/sql";
import { type RunFilter, runConditions } from "@/server/runs/filter";
import type { Services } from "@/server/services";

/** Rows read at a time: a page may hold megabytes of outputs. */
const PAGE = 100;

const row = z.object({
  id: z.string(),
  kind: z.string(),
  target: z.string(),
  version: z.number(),
  model: z.string().nullable(),
  status: z.string(),
  source: z.string(),
  created_at: z.date(),
  started_at: z.date().nullable(),
  finished_at: z.date().nullable(),
  steps: z.number(),
  input_tokens: z.number(),
  output_tokens: z.number(),
  actions: z.number(),
  credits: z.string(),
  error: z.string().nullable(),
  input: z.string(),
  output: z.string().nullable(),
});

const COLUMNS = [
  "id",
  "kind",
  "target",
  "version",
  "model",
  "status",
  "source",
  "createdAt",
  "startedAt",
  "finishedAt",
  "durationMs",
  "steps",
  "inputTokens",
  "outputTokens",
  "actions",
  "credits",
  "error",
  "input",
  "output",
] as const;

type ExportedRun = Record<(typeof COLUMNS)[number], string | number | null>;

/**
 * The organization's runs that a filter lets through, newest first, piece by piece: as CSV (RFC 4180) or as one JSON
 * array. Texts are whole. However many there are, only one page of them is in memory.
 */
export async function* exportRuns(
  services: Services,
  actor: MemberActor,
  { filter, format }: { filter: RunFilter; format: "csv" | "json" },
): AsyncGenerator<string> {
  const conditions = runConditions(actor.orgId, filter, services.clock.now());
  yield format === "csv" ? `${COLUMNS.join(",")}\r\n` : "[";
  let before: string | undefined;
  let first = true;
  for (;;) {
    const page = await readPage(services, conditions, before);
    let text = "";
    for (const run of page) {
      text += format === "csv" ? csvLine(run) : `${first ? "\n" : ",\n"}${JSON.stringify(run)}`;
      first = false;
    }
    if (text !== "") yield text;
    if (page.length < PAGE) break;
    before = String(page.at(-1)?.id);
  }
  if (format === "json") yield "\n]\n";
}

async function readPage(
  services: Services,
  conditions: Prisma.Sql[],
  before: string | undefined,
): Promise<ExportedRun[]> {
  const all = before ? [...conditions, Prisma.sql`r.id < ${before}::uuid`] : conditions;
  const { text, values } = Prisma.sql`
    SELECT r.id, r.kind::text, r.target_name AS target, r.target_version AS version, r.model, r.status::text,
      r.source::text, r.created_at, r.started_at, r.finished_at, r.steps_executed AS steps, r.input_tokens,
      r.output_tokens, r.actions_used AS actions, r.credits_used::text AS credits, r.error_message AS error,
      r.input, r.output
    FROM runs r WHERE ${Prisma.join(all, " AND ")} ORDER BY r.id DESC LIMIT ${PAGE}`;
  const { rows } = await readUnhurried(services.pool, (client) => client.query(text, values));
  return z
    .array(row)
    .parse(rows)
    .map((run) => ({
      id: run.id,
      kind: run.kind,
      target: run.target,
      version: run.version,
      model: run.model,
      status: run.status,
      source: run.source,
      createdAt: run.created_at.toISOString(),
      startedAt: run.started_at?.toISOString() ?? null,
      finishedAt: run.finished_at?.toISOString() ?? null,
      durationMs:
        run.started_at && run.finished_at ? run.finished_at.getTime() - run.started_at.getTime() : null,
      steps: run.steps,
      inputTokens: run.input_tokens,
      outputTokens: run.output_tokens,
      actions: run.actions,
      credits: run.credits,
      error: run.error,
      input: run.input,
      output: run.output,
    }));
}

function csvLine(run: ExportedRun): string {
  return `${COLUMNS.map((column) => csvField(run[column])).join(",")}\r\n`;
}

/** A field as RFC 4180 wants it; what a spreadsheet would take for a formula is made text by an apostrophe. */
export function csvField(value: string | number | null): string {
  if (value === null) return "";
  if (typeof value === "number") return String(value);
  const harmless = /^[=+\-@\t\r]/.test(value) ? `'${value}` : value;
  return /[",\r\n]/.test(harmless) ? `"${harmless.replaceAll('"', '""')}"` : harmless;
}
