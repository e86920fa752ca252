import { z } from "zod";
import { MAX_DOCUMENT_LENGTH, parseDocument } from "@/server/guard/sandbox/parse-document";
import { defineFunction, FunctionError } from "@/server/work/functions/core/define";

const page = z.object({
  title: z.string().describe("The page's title; empty if it has none."),
  text: z.string().describe("The text, paragraphs separated by empty lines."),
});

export const extractText = defineFunction({
  name: "extract_text",
  title: "Extract text",
  description:
    "Returns the title and the readable text of an HTML page: its main part if it has one, " +
    "without markup, scripts, menus, form fields and hidden parts.",
  input: z.object({
    html: z.string().max(MAX_DOCUMENT_LENGTH).describe("The HTML of a page or of a part of one."),
  }),
  output: page,
  errors: { invalid_html: "The page is too large or too complex to be read." },
  hasSideEffects: false,
  timeoutMs: 30_000,
  example: {
    input: {
      html: "<title>Stock</title><nav>Home</nav><main><h1>Stock</h1><p>Four <b>lamps</b> are left.</p></main>",
    },
    output: { title: "Stock", text: "Stock\n\nFour lamps are left." },
  },
  async run({ html }, { organizationId, signal, memory }) {
    const parsed = await parseDocument({ html }, { organizationId, signal, memory }, page);
    if ("value" in parsed) return parsed.value;
    throw new FunctionError("invalid_html", `Could not read the page: ${parsed.issue}`);
  },
});
