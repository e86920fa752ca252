import { z } from "zod";
import { isJsonObject } from "@/server/base/json/json";
import { MIB } from "@/server/contract/sizes";
import { resolveInstalled, ThreadPool, threadOf } from "@/server/guard/sandbox/thread-pool";

export const MAX_CSV_ROWS = 100_000;
export const MAX_DOCUMENT_LENGTH = 4 * MIB;
/** Without the time in which the document waits for a thread. */
const PARSE_TIMEOUT_MS = 10_000;

/** Not a z.record, which drops a column named __proto__. */
const csvRecord = z.custom<Record<string, string>>(
  (value) => isJsonObject(value) && Object.values(value).every((text) => typeof text === "string"),
);
/** The rows of a CSV text: lists, or records by the names of the first row. */
export const csvRows = z.union([z.array(z.array(z.string())), z.array(csvRecord)]);

/** Parses a `DocumentRequest`. In a thread, because time and memory of these parsers depend on what they are given. */
const THREAD = threadOf(`(data) => {
  function parseCsv({ text, delimiter, header }) {
    const { parse } = require(data.csv);
    // Rows are lists: a column named __proto__ is data like any other.
    const rows = parse(text, {
      bom: true,
      delimiter,
      // All of them: otherwise the first line's end is expected of every line.
      record_delimiter: ["\\r\\n", "\\n", "\\r"],
      skip_empty_lines: true,
      to: data.maxRows + 1,
    });
    if (rows.length > data.maxRows) throw new Error("too many rows");
    if (!header) return rows;
    const [names = [], ...records] = rows;
    const known = new Set();
    for (const name of names) {
      if (known.has(name)) {
        throw new Error("two columns are named " + JSON.stringify(name.slice(0, 100)) + "; header: false reads rows as lists");
      }
      known.add(name);
    }
    return records.map((record) => Object.fromEntries(names.map((name, index) => [name, record[index]])));
  }

  // A page may leave out the tags of its head.
  const SKIPPED = ["head", "title", "script", "style", "noscript", "template", "svg", "nav", "form", "iframe", "object"];
  const selectors = [
    ...SKIPPED.map((selector) => ({ selector, format: "skip" })),
    { selector: "a", options: { ignoreHref: true } },
    { selector: "img", format: "skip" },
    ...["h1", "h2", "h3", "h4", "h5", "h6"].map((selector) => ({ selector, options: { uppercase: false } })),
    { selector: "ol", format: "numberedList" },
    { selector: "table", format: "dataTable", options: { uppercaseHeaderCells: false } },
  ];

  /** As browsers do: numbers that cannot be written as letters or in Roman are written as digits. */
  function numberedList(list, walk, builder, given) {
    const { type = "1", start = "1" } = list.attribs;
    const first = Number.isSafeInteger(parseInt(start, 10)) ? parseInt(start, 10) : 1;
    const most = type.toLowerCase() === "i" ? 3999 : 2 ** 31 - 1;
    const fits = first >= 1 && first + list.children.length - 1 <= most;
    Object.assign(list.attribs, { start: String(first), type: fits ? type : "1" });
    return builder.options.formatters.orderedList(list, walk, builder, given);
  }

  const options = {
    wordwrap: false,
    selectors,
    formatters: { numberedList },
    limits: { maxInputLength: data.maxLength, maxDepth: 200, maxChildNodes: 100000 },
  };

  function extractText(html) {
    const { convert } = require(data.html);
    const textOf = (selector, given) =>
      convert(html, { ...given, baseElements: { selectors: [selector], returnDomByDefault: selector === "body" } }).trim();
    const text = textOf("main", options) || textOf("article", options) || textOf("body", options);
    return { title: textOf("title", { ...options, selectors: [] }), text };
  }

  return (request) => ("csv" in request ? parseCsv(request.csv) : extractText(request.html));
}`);

const pool = new ThreadPool({
  source: THREAD,
  workerData: () => ({
    csv: resolveInstalled("csv-parse/sync"),
    html: resolveInstalled("html-to-text"),
    maxRows: MAX_CSV_ROWS,
    maxLength: MAX_DOCUMENT_LENGTH,
  }),
  memoryMb: 256,
  value: z.unknown(),
});

type DocumentRequest = { csv: { text: string; delimiter: string; header: boolean } } | { html: string };

/** The rows of a CSV text (RFC 4180), or title and text of an HTML page; or why not, in words for people. */
export async function parseDocument<Value>(
  request: DocumentRequest,
  organizationId: string,
  value: z.ZodType<Value>,
): Promise<{ value: Value } | { fault: string }> {
  const answer = await pool.ask(request, { timeoutMs: PARSE_TIMEOUT_MS, organizationId });
  if ("value" in answer) return { value: value.parse(answer.value) };
  return "fault" in answer ? answer : { fault: `It could not be parsed ${answer.limit}.` };
}
