import { z } from "zod";
import { DOCUMENT_THREAD } from "@/server/documents/document-thread";
import { isJsonObject } from "@/server/json/json";
import { resolveInstalled, ThreadError, ThreadPool } from "@/server/sandbox/thread-pool";

/** Most rows of one CSV text. */
export const MAX_CSV_ROWS = 100_000;
/** Most characters of a document. */
export const MAX_DOCUMENT_LENGTH = 4 * 1024 * 1024;
/** Once a thread takes it up. */
const PARSE_TIMEOUT_MS = 10_000;
const THREAD_MEMORY_MB = 256;

/** A document that cannot be parsed, or not within its limits. The message is meant for people. */
export class DocumentError extends Error {
  override name = "DocumentError";
}

const pool = new ThreadPool({
  source: DOCUMENT_THREAD,
  workerData: () => ({
    csv: resolveInstalled("csv-parse/sync"),
    html: resolveInstalled("html-to-text"),
    maxRows: MAX_CSV_ROWS,
    maxLength: MAX_DOCUMENT_LENGTH,
  }),
  memoryMb: THREAD_MEMORY_MB,
});

/** Not a z.record, which drops a column named __proto__. */
const csvRecord = z.custom<Record<string, string>>(
  (value) => isJsonObject(value) && Object.values(value).every((text) => typeof text === "string"),
);
const csvRows = z.union([z.array(z.array(z.string())), z.array(csvRecord)]);
const htmlText = z.object({ title: z.string(), text: z.string() });

async function callThread<Value>(
  request: unknown,
  organizationId: string,
  value: z.ZodType<Value>,
): Promise<Value> {
  const answer = await pool
    .ask(request, { timeoutMs: PARSE_TIMEOUT_MS, organizationId })
    .catch((error: unknown) => {
      if (!(error instanceof ThreadError)) throw error;
      throw new DocumentError(
        error.reason === "timeout"
          ? `It could not be parsed within ${PARSE_TIMEOUT_MS / 1000} seconds.`
          : `It could not be parsed with ${THREAD_MEMORY_MB} MB of memory.`,
      );
    });
  const parsed = z.union([z.object({ value }), z.object({ fault: z.string() })]).parse(answer);
  if ("fault" in parsed) throw new DocumentError(parsed.fault);
  return parsed.value;
}

/** The rows of a CSV text (RFC 4180): records by the names of the first row, or lists without a header. Throws DocumentError. */
export function parseCsvText(
  csv: { text: string; delimiter: string; header: boolean },
  organizationId: string,
): Promise<z.infer<typeof csvRows>> {
  return callThread({ csv }, organizationId, csvRows);
}

/** The title and the readable text of an HTML page. Throws DocumentError. */
export function extractHtmlText(html: string, organizationId: string): Promise<z.infer<typeof htmlText>> {
  return callThread({ html }, organizationId, htmlText);
}
