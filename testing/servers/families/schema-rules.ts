import { isJsonObject, type JsonObject } from "@/server/base/json/json";

type Step = string | number;
type Rule = (schema: JsonObject, path: readonly Step[]) => string | null;

const MAPS = ["properties", "patternProperties", "$defs", "definitions"];
const LISTS = ["anyOf", "oneOf", "allOf", "prefixItems"];
const SINGLE = ["items", "additionalProperties", "contains"];

/** The first problem that the rule finds in a schema or a part of it. */
function findIn(schema: unknown, rule: Rule, path: readonly Step[] = []): string | null {
  if (!isJsonObject(schema)) return null;
  const own = rule(schema, path);
  if (own !== null) return own;
  const parts = Object.entries(schema).flatMap(([key, held]): [Step[], unknown][] => {
    if (SINGLE.includes(key)) return [[[...path, key], held]];
    if (MAPS.includes(key) && isJsonObject(held))
      return Object.entries(held).map(([name, part]) => [[...path, key, name], part]);
    if (LISTS.includes(key) && Array.isArray(held))
      return held.map((part, index) => [[...path, key, index], part]);
    return [];
  });
  for (const [place, part] of parts) {
    const problem = findIn(part, rule, place);
    if (problem !== null) return problem;
  }
  return null;
}

type Tool = { name: string; parameters: object };

/** OpenAI's first error about the parameters of functions. */
export function openaiToolsProblem(tools: readonly Tool[]): { index: number; message: string } | null {
  for (const [index, { name, parameters }] of tools.entries()) {
    const isCombined = Object.keys(parameters).some((key) => REJECTED_AT_TOP.has(key));
    const problem = isCombined ? NOT_AT_TOP : findIn(parameters, missingItems);
    if (problem !== null) return { index, message: `Invalid schema for function '${name}': ${problem}` };
  }
  return null;
}

const REJECTED_AT_TOP = new Set(["oneOf", "anyOf", "allOf", "enum", "not"]);
const NOT_AT_TOP =
  "schema must have type 'object' and not have 'oneOf'/'anyOf'/'allOf'/'enum'/'not' at the top level.";

// langchain-ai/langchain#24225, AnswerDotAI/fastcore#798
const missingItems: Rule = ({ type, items }, path) => {
  const context = `In context=(${path.map((step) => `'${step}'`).join(", ")})`;
  if (Array.isArray(items)) return `${context}, [...] is not of type 'object', 'boolean'.`;
  return [type].flat().includes("array") && items === undefined
    ? `${context}, array schema missing items.`
    : null;
};
