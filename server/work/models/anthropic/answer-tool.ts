import type { JsonObject } from "@/server/base/json/json";
import type { ModelRequest } from "@/server/work/models/port";

/** The model calls this tool to give an answer of a schema: Anthropic's documentation of tool use, "JSON mode". */

const NAME = "final_answer";

const REJECTED_AT_TOP = ["anyOf", "oneOf", "allOf", "$ref"];

/** The tool for a request's schema; null if there is none, or one that a tool cannot have. */
export function answerToolOf({
  responseSchema: schema,
  tools,
  withheldTools = [],
}: Pick<ModelRequest, "responseSchema" | "tools" | "withheldTools">): {
  name: string;
  description: string;
  schema: JsonObject;
} | null {
  if (schema === undefined || schema.type !== "object") return null;
  if (REJECTED_AT_TOP.some((keyword) => keyword in schema)) return null;
  const taken = new Set([...tools, ...withheldTools].map((tool) => tool.name));
  let name = NAME;
  while (taken.has(name)) name += "_";
  return {
    name,
    description: "Gives the final answer. Call it once, alone.",
    schema,
  };
}
