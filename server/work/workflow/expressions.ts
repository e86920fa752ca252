import { LRUCache } from "lru-cache";
import { isJsonObject, type Json, type JsonObject, keysOf, objectOf } from "@/server/base/json/json";
import { stringifyLarge } from "@/server/base/json/large";
import { WorkSlice } from "@/server/base/scheduling/event-loop";
import { formatLimit, MAX_INSERTED_LENGTH, MIB } from "@/server/contract/sizes";
import type { StepMemory } from "@/server/guard/limits/process-memory";
import { parseSecretReference } from "@/server/guard/secrets/references";
import {
  ExpressionError,
  type ExpressionFacts,
  evaluateExpression,
  parseExpression,
} from "@/server/work/expressions/jsonata";
import { evaluateReference, parseReference } from "@/server/work/expressions/plain-reference";
import { describeUnknownVariable } from "@/server/work/expressions/unknown-variables";
import { findPaths, findReferences, type Reference } from "@/server/work/workflow/references";
import { MAX_SHOWN_PATHS } from "@/server/work/workflow/skip-note";
import { StoredJson } from "@/server/work/workflow/stored-json";

/**
 * One expression of a template, with the names it reads. `secret`: it is only a reference to a secret, which is
 * never evaluated. `issue`: it names an unknown function or variable, which fails only if it gets there.
 */
export type TemplateExpression = {
  expression: string;
  references: Reference[];
  /** None if the expression is itself a plain path. */
  paths: string[];
  secret: string | null;
  issue: string | null;
};

/** Without `placeholderOf`, texts cannot refer to secrets. */
type FillFacts = ExpressionFacts & { placeholderOf?: ((secret: string) => string) | undefined };

/** A parsed text with `{{ }}`. `isExpression`: the text is a single expression, whose value keeps its type. */
export type Template = { parts: (string | TemplateExpression)[]; isExpression: boolean };

type Readable = { readonly [name: string]: Json | StoredJson };
/** The values that expressions can read: `input`, `steps`, `run`, and within forEach `item` or the name in `as`. */
export type Scope = { values: Readable; steps: Readable };

// More closing braces within one expression are a mistake or an attack.
const MAX_CLOSINGS = 64;
const MAX_CHARACTERS = 8 * MIB;
const templates = new LRUCache<string, Template>({ maxSize: MAX_CHARACTERS });
const expressions = new LRUCache<string, TemplateExpression>({ maxSize: MAX_CHARACTERS });

/**
 * Parses a text with `{{ … }}`. An expression ends at the first `}}` that leaves a complete JSONata expression, so
 * braces are allowed inside it. Throws ExpressionError.
 */
export async function parseTemplate(text: string, organizationId: string): Promise<Template> {
  const known = templates.get(text);
  if (known !== undefined) return known;
  const parts: Template["parts"] = [];
  let at = 0;
  for (;;) {
    const open = text.indexOf("{{", at);
    if (open < 0) break;
    if (open > at) parts.push(text.slice(at, open));
    const { expression, end } = await readExpression(text, open + 2, organizationId);
    parts.push(expression);
    at = end;
  }
  if (at < text.length) parts.push(text.slice(at));
  const filled = parts.filter((part) => typeof part !== "string" || part.trim() !== "");
  const template = { parts, isExpression: filled.length === 1 && typeof filled[0] === "object" };
  templates.set(text, template, { size: text.length + 1 });
  return template;
}

async function readExpression(
  text: string,
  start: number,
  organizationId: string,
): Promise<{ expression: TemplateExpression; end: number }> {
  let firstError: unknown;
  let end = text.indexOf("}}", start);
  for (let attempts = 0; end >= 0 && attempts < MAX_CLOSINGS; attempts += 1) {
    const source = text.slice(start, end).trim();
    if (source === "") throw new ExpressionError("The expression between {{ and }} is empty.");
    try {
      return { expression: await parseBare(source, organizationId), end: end + 2 };
    } catch (error) {
      firstError ??= error;
    }
    end = text.indexOf("}}", end + 1);
  }
  throw firstError ?? new ExpressionError("A {{ is never closed by }}.");
}

async function parseBare(expression: string, organizationId: string): Promise<TemplateExpression> {
  const known = expressions.get(expression);
  if (known !== undefined) return known;
  const secret = parseSecretReference(expression);
  const parsed = { expression, secret, ...(await readNames(expression, organizationId)) };
  expressions.set(expression, parsed, { size: expression.length });
  return parsed;
}

async function readNames(
  expression: string,
  organizationId: string,
): Promise<Pick<TemplateExpression, "references" | "paths" | "issue">> {
  const reference = parseReference(expression);
  const [first, second] = reference ?? [];
  if (first !== undefined) {
    const member = first.indexes.length === 0 ? (second?.name ?? null) : null;
    return { references: [{ root: first.name, member }], paths: [], issue: null };
  }
  const tree = await parseExpression(expression, organizationId);
  try {
    const paths = findPaths(tree).slice(0, MAX_SHOWN_PATHS);
    return { references: findReferences(tree), paths, issue: describeUnknownVariable(tree) };
  } catch (error) {
    if (error instanceof RangeError) throw new ExpressionError("The expression is nested too deeply.");
    throw error;
  }
}

/** Parses `if` and `forEach`: one `{{ … }}`, or the bare expression. Throws ExpressionError. */
export async function parseCondition(text: string, organizationId: string): Promise<TemplateExpression> {
  if (!text.includes("{{")) {
    if (text.trim() === "") throw new ExpressionError("The expression is empty.");
    return parseBare(text.trim(), organizationId);
  }
  const { parts, isExpression } = await parseTemplate(text, organizationId);
  const expression = parts.find((part) => typeof part === "object");
  if (!isExpression || expression === undefined)
    throw new ExpressionError("This must be a single expression.");
  return expression;
}

// Only the part that is read is parsed and copied into the sandbox.
async function readPart(
  { values, steps }: Scope,
  references: readonly Reference[],
  memory: StepMemory | undefined,
): Promise<JsonObject> {
  const roots = new Set(references.map(({ root }) => root));
  const stepIds = new Set(references.flatMap(({ root, member }) => (root === "steps" ? [member] : [])));
  const all = roots.has(null);
  const part = await readNamed(values, all ? null : roots, memory);
  if (!all && stepIds.size === 0) return part;
  return { ...part, steps: await readNamed(steps, all || stepIds.has(null) ? null : stepIds, memory) };
}

async function readNamed(
  source: Readable,
  names: ReadonlySet<string | null> | null,
  memory: StepMemory | undefined,
): Promise<JsonObject> {
  const read: [string, Json][] = [];
  for (const [name, value] of Object.entries(source)) {
    if (names !== null && !names.has(name)) continue;
    read.push([name, value instanceof StoredJson ? await value.read(memory) : value]);
  }
  return objectOf(read);
}

/** The value of an expression; undefined if JSONata finds nothing. Throws ExpressionError. */
export async function evaluateIn(
  scope: Scope,
  parsed: TemplateExpression,
  facts: ExpressionFacts,
): Promise<Json | undefined> {
  facts.signal?.throwIfAborted();
  const part = await readPart(scope, parsed.references, facts.memory);
  return evaluateExpression(parsed.expression, part, facts);
}

/** The values of the paths in an expression, for people; without those that need the sandbox. */
export async function readPaths(
  scope: Scope,
  { paths, references }: TemplateExpression,
  memory: StepMemory | undefined,
): Promise<{ path: string; value: Json | undefined }[]> {
  if (paths.length === 0) return [];
  const part = await readPart(scope, references, memory);
  const read: { path: string; value: Json | undefined }[] = [];
  for (const path of paths) {
    const found = evaluateReference(path, part);
    if (found !== null) read.push({ path, value: found.value });
  }
  return read;
}

/**
 * Fills in all templates in a JSON value. A string that is a single `{{ … }}` becomes the expression's value, null
 * if it finds nothing. In other strings the values are inserted. Each expression has its own random numbers, which
 * depend on its place. Throws ExpressionError.
 */
export function fillIn(value: Json, scope: Scope, { placeholderOf, ...facts }: FillFacts): Promise<Json> {
  const slice = new WorkSlice();
  let room = MAX_INSERTED_LENGTH;
  let evaluated = 0;

  const evaluate = async (parsed: TemplateExpression): Promise<Json> => {
    if (slice.isOver) await slice.next();
    if (parsed.secret === null) {
      evaluated += 1;
      const own = { ...facts, seed: `${facts.seed}/${evaluated}` };
      return (await evaluateIn(scope, parsed, own)) ?? null;
    }
    if (placeholderOf === undefined)
      throw new ExpressionError(`The secret "${parsed.secret}" cannot be used here.`);
    return placeholderOf(parsed.secret);
  };
  const textOf = async (value: Json): Promise<string> => {
    if (value === null) return "";
    const text = typeof value === "string" ? value : await stringifyLarge(value);
    room -= text.length;
    if (room >= 0) return text;
    throw new ExpressionError(
      `The values of the expressions are larger than ${formatLimit(MAX_INSERTED_LENGTH)} together.`,
    );
  };
  const fillText = async (template: string): Promise<Json> => {
    const { parts, isExpression } = await parseTemplate(template, facts.organizationId);
    let text = "";
    for (const part of parts) {
      if (typeof part === "string") {
        text += part;
        continue;
      }
      const value = await evaluate(part);
      const inserted = await textOf(value);
      if (isExpression) return value;
      text += inserted;
    }
    return text;
  };
  // Sequential: a run evaluates one expression at a time.
  const fill = async (value: Json): Promise<Json> => {
    if (slice.isOver) await slice.next();
    if (typeof value === "string") return value.includes("{{") ? fillText(value) : value;
    if (Array.isArray(value)) {
      const items: Json[] = [];
      for (const item of value) items.push(await fill(item));
      return items;
    }
    if (!isJsonObject(value)) return value;
    const members: [string, Json][] = [];
    for (const [key, member] of Object.entries(value)) members.push([key, await fill(member)]);
    return objectOf(members);
  };
  return fill(value);
}

/** Returns true if a condition's value is true by JSONata's casting: empty strings, lists and objects are not. */
export function isTrue(value: Json | undefined): boolean {
  if (Array.isArray(value)) return value.some(isTrue);
  if (isJsonObject(value)) return keysOf(value).length > 0;
  return Boolean(value);
}
