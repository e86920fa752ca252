import { z } from "zod";
import { isJsonObject } from "@/server/base/json/json";
import { readLargeJson } from "@/server/base/json/large";
import { formatLimit, MIB } from "@/server/contract/sizes";
import type { StepMemory } from "@/server/guard/limits/process-memory";
import { resolveInstalled, ThreadPool, threadOf } from "@/server/guard/sandbox/thread-pool";

export const MAX_CSV_ROWS = 100_000;
export const MAX_DOCUMENT_LENGTH = 4 * MIB;
/** Of the result as JSON, in characters. Records repeat the names of their columns, and lines their indents. */
export const MAX_PARSED_LENGTH = 4 * MIB;
const MAX_REPAIRS = 1_000;
// Menus may be longer than the text of a shorter page.
const SHORT_PAGE_LENGTH = 500;
// Excludes the wait for a thread.
const PARSE_TIMEOUT_MS = 10_000;

// Not a z.record, which drops a column named __proto__.
const csvRecord = z.custom<Record<string, string>>(
  (value) => isJsonObject(value) && Object.values(value).every((text) => typeof text === "string"),
);
/** The rows of a CSV text: lists, or records by the names of the first row. */
export const csvRows = z.union([z.array(z.array(z.string())), z.array(csvRecord)]);
/** The rows of a malformed CSV text, and the first of the repairs. */
export const repairedCsv = z.object({
  rows: csvRows,
  repairs: z.array(
    z.object({ line: z.int(), problem: z.string().describe("What was wrong, and what became of it.") }),
  ),
  repairCount: z.int(),
});

// Time and memory of these parsers depend on their input.
const THREAD = threadOf(`(data) => {
  function checkLength(length) {
    if (length > data.maxParsed) throw new Error("the result is larger than " + data.maxParsedText);
  }

  function readRows({ text, delimiter }, relaxation) {
    const { parse } = require(data.csv);
    // Rows are lists: a column named __proto__ is data like any other.
    const rows = parse(text, {
      bom: true,
      delimiter,
      // All of them: otherwise the first line's end is expected of every line.
      record_delimiter: ["\\r\\n", "\\n", "\\r"],
      skip_empty_lines: true,
      to: data.maxRows + 1,
      ...relaxation,
    });
    if (rows.length > data.maxRows) throw new Error("too many rows");
    return rows;
  }

  // Texts, not objects: V8 reserves 12 KB for a record with the column "1000".
  const recordText = (names, values) =>
    "{" + names.map((name, at) => JSON.stringify(name) + ":" + JSON.stringify(values[at])).join(",") + "}";
  function listText(rows, rowText) {
    let length = 0;
    const texts = rows.map((row, at) => {
      const text = rowText(row, at);
      length += text.length + 1;
      checkLength(length);
      return text;
    });
    return "[" + texts.join(",") + "]";
  }

  function repairCsv(request) {
    const repairs = [];
    const note = (line, problem) => repairs.push({ line, problem });
    const relaxation = { relax_column_count: true, info: true };
    let parsed;
    try {
      parsed = readRows(request, relaxation);
    } catch (error) {
      if (!/^(INVALID_OPENING_QUOTE|CSV_INVALID_CLOSING_QUOTE)$/.test(error.code)) throw error;
      // Spaces around a quoted value (adaltas/node-csv-parse#139).
      try {
        parsed = readRows(request, { ...relaxation, trim: true });
        note(error.lines, "has spaces around a quoted value; spaces around values are left out");
      } catch {
        note(error.lines, "has a quote within a value; quotes are part of such values");
        parsed = readRows(request, { ...relaxation, relax_quotes: true });
      }
    }
    const lines = parsed.map(({ info }) => info.lines);
    const rows = parsed.map(({ record }) => record);
    const width = rows[0] ? rows[0].length : 0;
    const isEmpty = (at) => rows.every((row) => (row[at] ?? "") === "");
    let columns = width;
    while (columns > 0 && isEmpty(columns - 1)) columns -= 1;
    if (columns < width) note(lines[0], "ends with a delimiter; the empty column is left out");
    const known = new Set();
    const uniqueName = (wanted) => {
      let unique = wanted;
      for (let n = 2; known.has(unique); n += 1) unique = wanted + " (" + n + ")";
      return unique;
    };
    const names = request.header
      ? (rows.shift() ?? []).slice(0, columns).map((name, at) => {
          const unique = uniqueName(name === "" ? "column " + (at + 1) : name);
          known.add(unique);
          if (unique !== name) note(lines[0], "names column " + (at + 1) + " " + JSON.stringify(name.slice(0, 100)) + "; it is called " + JSON.stringify(unique.slice(0, 100)));
          return unique;
        })
      : undefined;
    if (names) lines.shift();
    const repaired = listText(rows, (row, index) => {
      let { length } = row;
      while (length > columns && row[length - 1] === "") length -= 1;
      if (row.length !== width) note(lines[index], "has " + row.length + (row.length === 1 ? " value" : " values") + " instead of " + width);
      const values = Array.from({ length: Math.max(length, columns) }, (_, at) => row[at] ?? "");
      return names ? recordText(values.map((_, at) => names[at] ?? uniqueName("column " + (at + 1))), values) : JSON.stringify(values);
    });
    const noted = JSON.stringify(repairs.slice(0, data.maxRepairs));
    return '{"rows":' + repaired + ',"repairs":' + noted + ',"repairCount":' + repairs.length + "}";
  }

  /** A first line such as sep=; is for Excel (mholt/PapaParse#951). It names the delimiter, unless the caller does. */
  function withoutSeparatorLine({ text, delimiter, ...request }) {
    const [line = "", named] = /^\\uFEFF?"?sep=(.)"?(?:\\r\\n|\\n|\\r)/i.exec(text) ?? [];
    return { ...request, text: text.slice(line.length), delimiter: delimiter ?? named ?? "," };
  }

  function parseCsv(given) {
    const request = withoutSeparatorLine(given);
    if (request.relaxed) return repairCsv(request);
    const rows = readRows(request);
    if (!request.header) return listText(rows, (row) => JSON.stringify(row));
    const [names = [], ...records] = rows;
    const known = new Set();
    for (const name of names) {
      if (known.has(name)) {
        throw new Error("two columns are named " + JSON.stringify(name.slice(0, 100)) + "; header: false reads rows as lists");
      }
      known.add(name);
    }
    return listText(records, (record) => recordText(names, record));
  }

  // A page may leave out the tags of its head. Without forms, what people fill in.
  const SKIPPED = ["title", "script", "style", "select", "textarea", "datalist"];
  // They may wrap a whole page, or never end.
  const SKIPPED_UNLESS_PAGE = ["noscript", "template", "svg", "nav", "iframe", "object", "button"];
  // Elements that begin a line, as browsers show them.
  const LINES = ["dl", "dt", "dd", "details", "summary", "fieldset", "legend", "figure", "figcaption", "address", "caption"];
  const HIDING_STYLES = ["display:none", "display: none", "visibility:hidden", "visibility: hidden"];
  const HIDDEN = ["[hidden]", ...HIDING_STYLES.map((style) => '[style*="' + style + '" i]')];
  const selectors = [
    ...LINES.map((selector) => ({ selector, format: "block", options: { leadingLineBreaks: 1, trailingLineBreaks: 1 } })),
    ...SKIPPED.map((selector) => ({ selector, format: "skip" })),
    ...[...SKIPPED_UNLESS_PAGE, ...HIDDEN].map((selector) => ({ selector, format: "unlessPage" })),
    { selector: "a", options: { ignoreHref: true } },
    { selector: "img", format: "skip" },
    ...["h1", "h2", "h3", "h4", "h5", "h6"].map((selector) => ({ selector, options: { uppercase: false } })),
    { selector: "ol", format: "numberedList" },
    { selector: "ul", format: "plainList" },
    { selector: "table", format: "boundedTable", options: { uppercaseHeaderCells: false } },
  ];

  const PLAIN_TABLES = [
    { selector: "table", format: "block" },
    { selector: "tr", format: "block", options: { leadingLineBreaks: 1, trailingLineBreaks: 1 } },
    ...["td", "th"].map((selector) => ({ selector, format: "inlineSurround", options: { suffix: "   " } })),
  ];

  const CONTENT = ["main", "article", "h1"];
  const MAX_DEPTH = 200;
  const measures = new WeakMap();
  function measure(node, depth = 0) {
    if (node.type === "text") return { length: node.data.trim().length, hasContent: false };
    const known = measures.get(node);
    if (known) return known;
    const sum = { length: 0, hasContent: CONTENT.includes(node.name) };
    if (node.name !== "a" && !SKIPPED.includes(node.name) && depth < MAX_DEPTH)
      for (const child of node.children ?? []) {
        const { length, hasContent } = measure(child, depth + 1);
        sum.length += length;
        sum.hasContent ||= hasContent;
      }
    measures.set(node, sum);
    return sum;
  }

  function unlessPage(element, walk, builder, given) {
    let root = element;
    while (root.parent) root = root.parent;
    const own = measure(element);
    const all = measure(root).length;
    const isAll = own.length > 0 && own.length === all;
    const isPage = own.hasContent || isAll || (own.length > data.shortPage && own.length > all / 2);
    if (isPage) builder.options.formatters.block(element, walk, builder, given);
  }

  function pageTitle(element, walk, builder, given) {
    for (let { parent } = element; parent; parent = parent.parent) if (parent.name === "svg") return;
    builder.options.formatters.block(element, walk, builder, given);
  }

  function leaveOutHidden(element) {
    const isHidden = ({ attribs = {} }) =>
      "hidden" in attribs || HIDING_STYLES.some((style) => (attribs.style ?? "").toLowerCase().includes(style));
    element.children = element.children.filter((child) => !isHidden(child));
  }

  function plainList(list, walk, builder, given) {
    leaveOutHidden(list);
    return builder.options.formatters.unorderedList(list, walk, builder, given);
  }

  /** As in browsers, numbers that cannot be written as letters or in Roman become digits. */
  function numberedList(list, walk, builder, given) {
    leaveOutHidden(list);
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
    formatters: { boundedTable, numberedList, plainList, pageTitle, unlessPage },
    limits: { maxInputLength: data.maxLength, maxDepth: MAX_DEPTH, maxChildNodes: 100000 },
  };

  /** An element spans at most the cells of its table: "100%" or 1000 mean all of them. */
  function boundedTable(table, walk, builder, given) {
    const bound = (element, name, most) => {
      const span = parseInt(element.attribs[name], 10);
      if (name in element.attribs) element.attribs[name] = String(Math.min(Math.max(span || 1, 1), most));
    };
    const cellsOf = (row) => row.children.filter(({ name }) => name === "td" || name === "th");
    const rows = [];
    const collect = (element) => {
      leaveOutHidden(element);
      for (const child of element.children)
        if (child.name === "tr") rows.push(child);
        else if (["thead", "tbody", "tfoot"].includes(child.name)) collect(child);
    };
    collect(table);
    rows.forEach(leaveOutHidden);
    const columns = rows.reduce((most, row) => Math.max(most, cellsOf(row).length), 1);
    rows.forEach((row, at) => {
      for (const cell of cellsOf(row)) {
        bound(cell, "colspan", columns);
        bound(cell, "rowspan", rows.length - at);
      }
    });
    return builder.options.formatters.dataTable(table, walk, builder, given);
  }

  function extractText(html) {
    const { convert } = require(data.html);
    const textOf = (selector, given) =>
      convert(html, { ...given, baseElements: { selectors: [selector], returnDomByDefault: selector === "body" } }).trim();
    // Icons have titles, too.
    const limits = { ...options.limits, maxBaseElements: 1 };
    const titleOf = (selector) => textOf(selector, { ...options, selectors: [], limits });
    // Of a page without a head, the first title that is not an icon's (keepcosmos/readability#17).
    const titles = [{ selector: "title", format: "pageTitle" }];
    const title = titleOf("head > title") || textOf("title", { ...options, selectors: titles }).split("\\n", 1)[0];
    // Columns of unequal width can make a text much longer than its page.
    const pageText = (selector) => {
      const text = textOf(selector, options);
      return text.length <= html.length ? text : textOf(selector, { ...options, selectors: [...selectors, ...PLAIN_TABLES] });
    };
    const main = pageText("main");
    if (main) return { title, text: main };
    const body = pageText("body");
    const articles = pageText("article");
    const heading = textOf("h1", { ...options, limits });
    // Teasers beside a page's text are articles, too.
    const arePage = articles.length > body.length / 2 || (heading !== "" && articles.includes(heading));
    return { title, text: arePage ? articles : body };
  }

  return (request) => {
    const parsed = "csv" in request ? parseCsv(request.csv) : JSON.stringify(extractText(request.html));
    checkLength(parsed.length);
    return parsed;
  };
}`);

const pool = new ThreadPool({
  source: THREAD,
  workerData: () => ({
    csv: resolveInstalled("csv-parse/sync"),
    html: resolveInstalled("html-to-text"),
    maxRows: MAX_CSV_ROWS,
    maxLength: MAX_DOCUMENT_LENGTH,
    maxParsed: MAX_PARSED_LENGTH,
    maxParsedText: formatLimit(MAX_PARSED_LENGTH),
    maxRepairs: MAX_REPAIRS,
    shortPage: SHORT_PAGE_LENGTH,
  }),
  memoryMb: 256,
  value: z.string(),
});

type DocumentRequest =
  | { csv: { text: string; delimiter: string | undefined; header: boolean; relaxed: boolean } }
  | { html: string };

/**
 * The rows of a CSV text (RFC 4180), or title and text of an HTML page; or why not, in words for people. Throws the
 * signal's reason.
 */
export async function parseDocument<Value>(
  request: DocumentRequest,
  { memory, ...shared }: { organizationId: string; signal: AbortSignal; memory: StepMemory },
  value: z.ZodType<Value>,
): Promise<{ value: Value } | { issue: string }> {
  const answer = await pool.ask(request, { timeoutMs: PARSE_TIMEOUT_MS, ...shared });
  if ("issue" in answer) return answer;
  if (!("value" in answer)) return { issue: `Could not parse it ${answer.limit}.` };
  await memory.holdText(answer.value);
  return { value: value.parse(await readLargeJson(answer.value)) };
}
