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

type Tool = { name: string; description: string; parameters?: object | undefined };

/** OpenAI's first error about the parameters of functions. */
export function openaiToolsProblem(tools: readonly Tool[]): { index: number; message: string } | null {
  for (const [index, { name, parameters }] of tools.entries()) {
    const isCombined = Object.keys(parameters ?? {}).some((key) => REJECTED_AT_TOP.has(key));
    const problem = isCombined ? NOT_AT_TOP : findIn(parameters, missingItems);
    if (problem !== null) return { index, message: `Invalid schema for function '${name}': ${problem}` };
  }
  return null;
}

/** OpenAI's error about the first long description of a function (langchain-ai/open_deep_research#80). */
export function longDescription(
  tools: readonly Tool[],
  field: string,
): { param: string; message: string } | null {
  const index = tools.findIndex(({ description }) => description.length > 1024);
  if (index < 0) return null;
  const param = `tools[${index}].${field}`;
  const { length } = tools[index]?.description ?? "";
  const message = `Invalid '${param}': string too long. Expected a string with maximum length 1024, but got a string with length ${length} instead.`;
  return { param, message };
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

const KNOWN =
  "type format title description nullable enum items properties required anyOf default minItems maxItems minimum maximum";

/**
 * Errors of Gemini (AnswerDotAI/fastllm#51, anomalyco/opencode#28397, langchain-ai/langchain#24225) and Vertex
 * (jenslys/opencode-gemini-auth#57, P0luz/Ombre-Brain#119). @param isOld Objects need properties (AstrBotDevs/AstrBot#1060).
 */
export function geminiToolsProblem(tools: readonly Tool[], isOld: boolean): string | null {
  for (const [index, { name, parameters }] of tools.entries()) {
    const problem = findIn(parameters, (schema, path) => {
      const steps = path.map((step) => (typeof step === "number" ? `[${step}]` : `.${step}`)).join("");
      const place = `tools[0].function_declarations[${index}].parameters${steps}`;
      const unknown = Object.keys(schema).find((key) => !KNOWN.split(" ").includes(key));
      if (unknown !== undefined)
        return `Invalid JSON payload received. Unknown name "${unknown}" at '${place}': Cannot find field.`;
      const unable = `Unable to submit request because \`${name}\` functionDeclaration \`parameters${steps}\` schema`;
      if (schema.anyOf !== undefined)
        return Object.keys(schema).length === 1
          ? null
          : `${unable} specified other fields alongside any_of. When using any_of, it must be the only field set.`;
      const { type, items, properties = {}, required = [] } = schema;
      if (!TYPES.includes(String(type))) return `${unable} didn't specify the schema type field.`;
      if (type !== "string" && schema.enum !== undefined)
        return `* GenerateContentRequest.${place}.enum: only allowed for STRING type`;
      if (type === "array" && items === undefined)
        return `* GenerateContentRequest.${place}.items: missing field.`;
      const names = Object.keys(Object(properties));
      if (isOld && type === "object" && names.length === 0)
        return `* GenerateContentRequest.${place}.properties: should be non-empty for OBJECT type`;
      const undefinedAt = [required].flat().findIndex((each) => !names.includes(String(each)));
      return undefinedAt < 0
        ? null
        : `* GenerateContentRequest.${place}.required[${undefinedAt}]: property is not defined`;
    });
    if (problem !== null) return problem;
  }
  return null;
}

const TYPES = ["string", "number", "integer", "boolean", "array", "object"];
