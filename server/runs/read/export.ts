import { z } from "zod";
import type { MemberActor, OrgId } from "@/server/base/actor";
import { Prisma } from "@/server/base/db/generated/client";
import { isoDate, select } from "@/server/base/db/statement";
import { readWithoutTimeout } from "@/server/base/db/transaction";
import { readJson, writeJson } from "@/server/base/json/json";
import type { Services } from "@/server/runs/services";
import type { RunFilter } from "./find/filter";
import { findRunIds } from "./find/find";
import { cutRows, rowSize } from "./pieces";
import { CREDITS_OF_TREE } from "./run-rows";

const PAGE = 100;

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

async function cutToPieces(
  services: Pick<Services, "pool">,
  orgId: OrgId,
  ids: string[],
): Promise<string[][]> {
  const sizes = await select(
    services.pool,
    rowSize,
    Prisma.sql`
    SELECT r.id, octet_length(r.input) + coalesce(octet_length(r.output), 0) AS bytes
    FROM runs r WHERE r.organization_id = ${orgId}::uuid AND r.id = ANY (${ids}::uuid[]) ORDER BY r.id DESC`,
  );
  return cutRows(sizes).map((piece) => piece.ids);
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
