import { z } from "zod";
import type { MemberActor, OrgId } from "@/server/base/actor";
import { Prisma } from "@/server/base/db/generated/client";
import { isoDate, select } from "@/server/base/db/statement";
import { readWithoutTimeout } from "@/server/base/db/transaction";
import { readJson, writeJson } from "@/server/base/json/json";
import { MIB } from "@/server/contract/sizes";
import type { Services } from "@/server/runs/services";
import type { RunFilter } from "./find/filter";
import { findRunIds } from "./find/find";
import { CALL_COLUMNS, STEP_COLUMNS } from "./inspect/lines";
import { CREDITS_OF_TREE } from "./run-rows";

const PAGE = 100;
// Inputs and outputs that are read at a time, but at least one run.
const PIECE_BYTES = MIB;

// The keys are the columns, in this order.
const exportedRun = z.object({
  id: z.string(),
  kind: z.string(),
  target: z.string(),
  version: z.number(),
  model: z.string().nullable(),
  status: z.string(),
  source: z.string(),
  trigger: z.string().nullable(),
  schedule: z.string().nullable(),
  key: z.string().nullable(),
  person: z.string().nullable(),
  /** A JSON object. */
  metadata: z.string().nullable(),
  createdAt: isoDate,
  startedAt: isoDate.nullable(),
  finishedAt: isoDate.nullable(),
  durationMs: z.number().nullable(),
  steps: z.number(),
  inputTokens: z.number(),
  outputTokens: z.number(),
  actions: z.number(),
  credits: z.string(),
  creditsWithChildren: z.string(),
  error: z.string().nullable(),
  input: z.string(),
  output: z.string().nullable(),
});
type ExportedRun = z.infer<typeof exportedRun>;

const COLUMNS = exportedRun.keyof().options;

// Tells Excel that the file is UTF-8.
const BYTE_ORDER_MARK = "\uFEFF";

/**
 * Runs that match a filter, newest first, in chunks of CSV (RFC 4180) or of one JSON array. Texts are complete;
 * names of triggers, keys and people are current.
 */
export async function* exportRuns(
  services: Pick<Services, "clock" | "pool">,
  actor: MemberActor,
  { filter, format }: { filter: RunFilter; format: "csv" | "json" },
): AsyncGenerator<string> {
  yield format === "csv" ? `${BYTE_ORDER_MARK}${COLUMNS.join(",")}\r\n` : "[";
  let before: string | undefined;
  let first = true;
  for (;;) {
    const ids = await findRunIds(services, actor.orgId, { filter, page: { before, limit: PAGE } });
    for (const piece of await cutToPieces(services, actor.orgId, ids)) {
      let text = "";
      for (const run of await readPiece(services, actor.orgId, piece)) {
        text += format === "csv" ? csvLine(run) : `${first ? "\n" : ",\n"}${jsonLine(run)}`;
        first = false;
      }
      if (text !== "") yield text;
    }
    if (ids.length < PAGE) break;
    before = ids.at(-1);
  }
  if (format === "json") yield "\n]\n";
}

const runSize = z.object({ id: z.string(), bytes: z.number() });

async function cutToPieces(
  services: Pick<Services, "pool">,
  orgId: OrgId,
  ids: string[],
): Promise<string[][]> {
  const sizes = await select(
    services.pool,
    runSize,
    Prisma.sql`
    SELECT r.id, octet_length(r.input) + coalesce(octet_length(r.output), 0) AS bytes
    FROM runs r WHERE r.organization_id = ${orgId}::uuid AND r.id = ANY (${ids}::uuid[]) ORDER BY r.id DESC`,
  );
  const pieces: string[][] = [];
  let room = 0;
  for (const { id, bytes } of sizes) {
    room -= bytes;
    if (pieces.length === 0 || room < 0) {
      pieces.push([]);
      room = PIECE_BYTES - bytes;
    }
    pieces.at(-1)?.push(id);
  }
  return pieces;
}

function readPiece(services: Pick<Services, "pool">, orgId: OrgId, ids: string[]): Promise<ExportedRun[]> {
  const statement = Prisma.sql`
    SELECT r.id, r.kind::text, r.target_name AS target, r.target_version AS version, r.model, r.status::text,
      r.source::text, t.name AS trigger, s.name AS schedule, k.name AS key, u.name AS person, r.metadata, r.created_at AS "createdAt",
      r.started_at AS "startedAt", r.finished_at AS "finishedAt",
      (extract(epoch FROM r.finished_at - r.started_at) * 1000)::float8 AS "durationMs", r.steps_executed AS steps,
      r.input_tokens AS "inputTokens", r.output_tokens AS "outputTokens", r.actions_used AS actions,
      r.credits_used::text AS credits, (${Prisma.raw(CREDITS_OF_TREE)})::text AS "creditsWithChildren",
      r.error_message AS error, r.input, r.output
    FROM runs r
    LEFT JOIN triggers t ON t.id = r.trigger_id AND t.organization_id = r.organization_id
    LEFT JOIN schedules s ON s.id = r.schedule_id AND s.organization_id = r.organization_id
    LEFT JOIN api_keys k ON k.id = r.api_key_id AND k.organization_id = r.organization_id
    LEFT JOIN users u ON u.id = r.user_id
    WHERE r.organization_id = ${orgId}::uuid AND r.id = ANY (${ids}::uuid[]) ORDER BY r.id DESC`;
  return readWithoutTimeout(services.pool, (client) => select(client, exportedRun, statement));
}

function jsonLine({ metadata, ...run }: ExportedRun): string {
  return writeJson({ ...run, metadata: metadata === null ? {} : readJson(metadata) });
}

function csvLine(run: ExportedRun): string {
  return `${COLUMNS.map((column) => csvField(run[column])).join(",")}\r\n`;
}

// Spreadsheets of some countries split at semicolons, where a quote within such a part protects nothing.
const INNER_FORMULA = /([;\t\r\n]"*)(?=[=+\-@＝＋－＠])/g;

// An apostrophe precedes what a spreadsheet would take for a formula, also in full-width characters.
function csvField(value: string | number | null): string {
  if (value === null) return "";
  if (typeof value === "number") return String(value);
  const start = /^[=+\-@＝＋－＠\t\r\n]/.test(value) ? "'" : "";
  const harmless = start + value.replace(INNER_FORMULA, "$1'");
  return /[",;\t\r\n]/.test(harmless) ? `"${harmless.replaceAll('"', '""')}"` : harmless;
}

const RUN_OF_FILE = {
  id: true,
  kind: true,
  agentId: true,
  toolId: true,
  targetName: true,
  targetVersion: true,
  model: true,
  configurationHash: true,
  status: true,
  source: true,
  triggerId: true,
  scheduleId: true,
  apiKeyId: true,
  userId: true,
  metadata: true,
  parentRunId: true,
  rootRunId: true,
  input: true,
  output: true,
  errorCode: true,
  errorMessage: true,
  stepsExecuted: true,
  inputTokens: true,
  outputTokens: true,
  actionsUsed: true,
  creditsUsed: true,
  maxCredits: true,
  maxCreditsOf: true,
  createdAt: true,
  admittedAt: true,
  startedAt: true,
  finishedAt: true,
  yieldedAt: true,
  resumedAt: true,
  wakeAt: true,
  deadlineSeconds: true,
  cancelRequestedAt: true,
  cancelledBy: true,
  sequence: true,
} satisfies Prisma.RunSelect;

const STEP_OF_FILE = {
  ...STEP_COLUMNS,
  input: true,
  output: true,
  reasoning: true,
  inputTokens: true,
  outputTokens: true,
  actions: true,
} satisfies Prisma.StepSelect;

const CALL_OF_FILE = {
  ...CALL_COLUMNS,
  content: true,
  reasoning: true,
  finishReason: true,
  errorMessage: true,
} satisfies Prisma.ModelCallSelect;

/**
 * A run as a file: the row, its steps and its model calls, with complete texts and decimals as strings. Null if
 * unknown.
 */
export function readCompleteRun(
  services: Pick<Services, "db">,
  actor: MemberActor,
  runId: string,
): Promise<object | null> {
  return services.db.run.findFirst({
    where: { id: runId, organizationId: actor.orgId },
    select: {
      ...RUN_OF_FILE,
      steps: { orderBy: { stepNumber: "asc" }, select: STEP_OF_FILE },
      modelCalls: { orderBy: { id: "asc" }, select: CALL_OF_FILE },
    },
  });
}
