/**
 * What runs in a thread for documents from outside (parse-document.ts): CSV and HTML parsers, whose time and memory depend on
 * what they are given. A request is `{csv: {text, delimiter, header}}` or `{html}`; the answer is `{value}` or `{fault}`.
 */
export const DOCUMENT_THREAD = `
"use strict";
const { parentPort, workerData } = require("node:worker_threads");

function parseCsv({ text, delimiter, header }) {
  const { parse } = require(workerData.csv);
  // Rows are lists: a column named __proto__ is data like any other.
  const rows = parse(text, {
    bom: true,
    delimiter,
    // All of them: otherwise the first line's end is expected of every line.
    record_delimiter: ["\\r\\n", "\\n", "\\r"],
    skip_empty_lines: true,
    to: workerData.maxRows + 1,
  });
  if (rows.length > workerData.maxRows) return { fault: "too many rows" };
  if (!header) return { value: rows };
  const [names = [], ...records] = rows;
  const known = new Set();
  for (const name of names) {
    if (known.has(name)) return { fault: "two columns are named " + JSON.stringify(name.slice(0, 100)) + "; header: false reads rows as lists" };
    known.add(name);
  }
  return { value: records.map((record) => Object.fromEntries(names.map((name, index) => [name, record[index]]))) };
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
  limits: { maxInputLength: workerData.maxLength, maxDepth: 200, maxChildNodes: 100000 },
};

function extractText(html) {
  const { convert } = require(workerData.html);
  const textOf = (selector, given) =>
    convert(html, { ...given, baseElements: { selectors: [selector], returnDomByDefault: selector === "body" } }).trim();
  const text = textOf("main", options) || textOf("article", options) || textOf("body", options);
  return { value: { title: textOf("title", { ...options, selectors: [] }), text } };
}

function answer(request) {
  try {
    return "csv" in request ? parseCsv(request.csv) : extractText(request.html);
  } catch (error) {
    return { fault: String(error?.message ?? error).slice(0, 300) };
  }
}

parentPort.on("message", (request) => parentPort.postMessage(answer(request)));
parentPort.postMessage("ready");
`;
