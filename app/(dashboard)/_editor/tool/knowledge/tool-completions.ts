import { schemaOf, schemasAt } from "@/app/_ui/editor/text/schema";
import { isJsonObject, memberOf, readJson, valueAt } from "@/server/base/json/json";
import type { FunctionChoice } from "@/server/catalog/edit-definition";
import { type Path, type StepPlace, stepAt, type ToolView } from "../tool-document";

/** Knowledge for the completion in a tool. `schemas`: of `definitions.toolSchemas`, null until they are read. */
export type ToolKnowledge = {
  functions: readonly FunctionChoice[];
  secrets: readonly string[];
  schemas: string | null;
  outputs?: ReadonlyMap<string, unknown>;
};

type Schema = Record<string, unknown>;

const objectOf = (properties: Schema): Schema => ({ type: "object", properties });

/** The keys of a definition whose values are expressions. */
export const EXPRESSION_KEYS = new Set(["if", "forEach"]);

/** The names in expressions of a step, as an object schema. Contains secrets only if they are allowed. */
export function scopeOf(
  tool: ToolView,
  { functions, secrets, schemas, outputs: last = new Map() }: ToolKnowledge,
  { takesSecrets, ...place }: StepPlace & { takesSecrets: boolean },
): Schema {
  const outputs = schemaIn(readSchemas(schemas), "outputs");
  const outputOf = (step: unknown): [string, unknown][] => {
    if (!isJsonObject(step) || typeof step.id !== "string" || step.id === "") return [];
    const title = functions.find(({ name }) => name === step.uses)?.title;
    const output = { description: title, ...schemaIn(outputs, String(step.uses)) };
    const declared = step.forEach === undefined ? output : { type: "array", items: output };
    const returned = last.has(step.id) ? [schemaOf(last.get(step.id))] : [];
    return [[step.id, returned.length === 0 ? declared : { ...declared, allOf: [declared, ...returned] }]];
  };
  const earlier = tool.steps.slice(0, place.index).flatMap(({ fields }) => {
    const inner: unknown[] = Array.isArray(fields.parallel) ? fields.parallel : [];
    return [fields, ...inner].flatMap(outputOf);
  });
  const { forEach, as } = stepAt(tool, place)?.fields ?? {};
  const item = typeof as === "string" && as !== "" ? as : "item";
  return objectOf({
    input: { description: "The tool's input.", ...schemaIn(tool.fields, "parameters") },
    steps: { ...objectOf(Object.fromEntries(earlier)), description: "The outputs of earlier steps." },
    run: objectOf({ id: { type: "string" }, startedAt: { type: "string" }, tool: { type: "string" } }),
    ...(forEach === undefined ? {} : { [item]: { description: "The item of forEach." } }),
    ...(takesSecrets ? { secrets: objectOf(Object.fromEntries(secrets.map((name) => [name, {}]))) } : {}),
  });
}

/** The schema at a path of a tool's YAML: that of definitions, with the functions and their inputs. */
export function toolSchemaAt(
  tool: ToolView | null,
  { functions, schemas }: ToolKnowledge,
  path: Path,
): unknown {
  const [, index, ...rest] = path;
  const isStep = path[0] === "steps" && typeof index === "number";
  // A step of a group is a step.
  const own = isStep && rest[0] === "parallel" && typeof rest[1] === "number" ? rest.slice(2) : rest;
  if (isStep && own.length === 1 && own[0] === "uses") {
    return { enum: functions.map(({ name }) => name) };
  }
  if (isStep && own[0] === "with") {
    const step = path.slice(0, path.length - own.length).reduce<unknown>(valueAt, tool?.fields);
    const used = isJsonObject(step) ? functions.find(({ name }) => name === step.uses) : undefined;
    if (used === undefined) return undefined;
    return { anyOf: schemasAt(readJson(used.input), own.slice(1)) };
  }
  return { anyOf: schemasAt(schemaIn(readSchemas(schemas), "tool"), path) };
}

export function takesSecretsAt(tool: ToolView, { functions }: ToolKnowledge, path: Path): boolean {
  const at = path.lastIndexOf("with");
  if (path[0] !== "steps" || at < 2) return false;
  const step = path.slice(0, at).reduce<unknown>(valueAt, tool.fields);
  const used = isJsonObject(step) ? functions.find(({ name }) => name === step.uses) : undefined;
  return used?.secretFields.includes(String(path[at + 1])) === true;
}

function schemaIn(value: unknown, key: string): Schema {
  const member = memberOf(value, key);
  return isJsonObject(member) ? member : {};
}

let last: { text: string; value: unknown } | null = null;

/** Parsed once, because they do not change while a page is open. */
function readSchemas(text: string | null): unknown {
  if (text === null) return null;
  if (last?.text !== text) last = { text, value: readJson(text) };
  return last.value;
}
