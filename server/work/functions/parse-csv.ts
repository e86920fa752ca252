import { z } from "zod";
import { anyJson } from "@/server/base/json/any-json";
import { formatLimit } from "@/server/contract/sizes";
import {
  csvRows,
  MAX_CSV_ROWS,
  MAX_DOCUMENT_LENGTH,
  MAX_PARSED_LENGTH,
  parseDocument,
  repairedCsv,
} from "@/server/guard/sandbox/parse-document";
import { defineFunction, FunctionError } from "@/server/work/functions/core/define";

const REPAIRABLE = /^(Invalid (Record Length|Opening Quote|Closing Quote)|two columns)/;

export const parseCsv = defineFunction({
  name: "parse_csv",
  title: "Parse CSV",
  description:
    "Turns CSV text into a list of records, named by the first row. Every value is text. " +
    "With header: false, returns a list of lists. With relaxed, reads malformed texts and says what was repaired.",
  input: z.object({
    text: z.string().max(MAX_DOCUMENT_LENGTH).describe("The CSV text (RFC 4180)."),
    delimiter: z
      .string()
      .length(1)
      .regex(/^[^\r\n"]$/, "cannot be a quote or the end of a line")
      .optional()
      .describe('One character between values. Default: that of a first line such as "sep=;", else ",".'),
    header: z.boolean().optional().describe("Whether the first row names the columns. Default: true."),
    relaxed: z
      .boolean()
      .optional()
      .describe(
        "Whether to repair rows that are too short or too long, quotes within values, and columns without a name " +
          "or of one name. Default: false.",
      ),
  }),
  output: z
    .union([
      z.array(z.record(z.string(), z.string())),
      z.array(z.array(z.string())),
      z.object({
        rows: z.array(anyJson),
        repairs: z.array(z.object({ line: z.int(), problem: z.string() })),
        repairCount: z.int(),
      }),
    ])
    .describe(
      "The records, or with header: false the rows. With relaxed, {rows, repairs, repairCount}; repairs lists at " +
        "most 1,000.",
    ),
  errors: {
    invalid_csv:
      "A quote is never closed or, without relaxed, a row and the first one differ in length, or two columns have the same name. Or there are too many rows, or their JSON is too large.",
  },
  limits: [`${MAX_CSV_ROWS.toLocaleString("en-US")} rows, as JSON ${formatLimit(MAX_PARSED_LENGTH)}`],
  hasSideEffects: false,
  timeoutMs: 30_000,
  example: {
    input: { text: "sku,stock\nA-1,4\nB-2,0" },
    output: [
      { sku: "A-1", stock: "4" },
      { sku: "B-2", stock: "0" },
    ],
  },
  async run({ text, delimiter, header = true, relaxed = false }, { organizationId, signal, memory, note }) {
    const request = { csv: { text, delimiter, header, relaxed } };
    const facts = { organizationId, signal, memory };
    const parsed = await parseDocument(request, facts, z.union([csvRows, repairedCsv]));
    const other = findOtherDelimiter(text, delimiter);
    const advice = other === null ? null : `If ${other} separates the values, set delimiter to it.`;
    if ("value" in parsed) {
      if (advice !== null) note(`The first line has only one value. ${advice}`);
      return parsed.value;
    }
    const isRepairable = !relaxed && REPAIRABLE.test(parsed.issue);
    const wayOut = advice ?? (isRepairable ? "With relaxed: true it is repaired." : null);
    const issue = wayOut === null ? parsed.issue : `${parsed.issue}. ${wayOut}`;
    throw new FunctionError("invalid_csv", `The text is not valid CSV: ${issue}`);
  },
});

const DELIMITERS = new Map([
  [";", '";"'],
  ["\t", "a tab"],
  ["|", '"|"'],
  [",", '","'],
]);

/** The name of a character that may separate the values of a first line without the delimiter. */
function findOtherDelimiter(text: string, delimiter = ","): string | null {
  const [line = ""] = text.split(/[\r\n]/, 1);
  if (line.includes(delimiter) || /^\ufeff?sep=/i.test(line)) return null;
  for (const [character, name] of DELIMITERS) if (line.includes(character)) return name;
  return null;
}
