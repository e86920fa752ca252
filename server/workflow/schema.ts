import { Ajv2020, type ErrorObject, type ValidateFunction } from "ajv/dist/2020.js";
import addFormats from "ajv-formats";
import type { Issue } from "@/server/errors";
import { isJsonObject, type Json, type JsonObject } from "@/server/json";
import { jsonPointer } from "@/server/json-text";
import { runTimeBoxed, TimeBoxError } from "@/server/time-box";

/**
 * JSON Schema 2020-12 written by strangers, over values from strangers: sizes are bounded, nothing is fetched, and
 * compiling and validating are interrupted when they take too long (a `pattern` may be catastrophic).
 */

/** Largest schema, in characters of its JSON text. */
const MAX_SCHEMA_LENGTH = 128 * 1024;
const MAX_SCHEMA_DEPTH = 64;
const MAX_ISSUES = 20;
/** Ten times what a large schema takes on an idle machine, so that a busy one refuses none. */
const COMPILE_TIMEOUT_MS = 3000;
const VALIDATE_TIMEOUT_MS = 1000;
/**
 * The process stands still while a costly schema is applied. One that has run out of its second gets so little for a minute
 * that calls of it, however many, cannot hold up everybody else.
 */
const SUSPECT_TIMEOUT_MS = 20;
const SUSPECT_FOR_MS = 60_000;
const MAX_CACHED = 300;
/** Beyond this many characters of input only the first fault is looked for. */
const ALL_FAULTS_LENGTH = 64 * 1024;

/** Keywords whose cost can outgrow the size of schema and value. */
const COSTLY = /"(pattern|patternProperties|uniqueItems|\$ref|\$dynamicRef|format)":/;

type Compiled = {
  /** Stops at the first fault. */
  first: ValidateFunction;
  /** Finds every fault; made when one was found. */
  all: () => ValidateFunction;
  costly: boolean;
  /** Until then (performance.now) it is suspect. */
  suspectUntil: number;
};
/** `passing`: the machine may have been busy, so that the next try may succeed. */
type CompileResult = { ok: true; compiled: Compiled } | { ok: false; issues: Issue[]; passing?: true };

const cache = new Map<string, CompileResult>();
let ajvs: { first: Ajv2020; all: Ajv2020 } | undefined;

function makeAjv(allErrors: boolean): Ajv2020 {
  const ajv = new Ajv2020({
    allErrors,
    // The schema itself is checked once, by the instance that finds every fault.
    validateSchema: false,
    strict: false,
    // `required: ["constructor"]` must not be satisfied by the prototype.
    ownProperties: true,
    // An `$id` belongs to its schema alone: two organizations may use the same one.
    addUsedSchema: false,
    logger: false,
    messages: true,
  });
  addFormats.default(ajv);
  // The first schema would pay for compiling the metaschema, out of its own time.
  if (allErrors) ajv.validateSchema({});
  return ajv;
}

/** The two instances; made anew after one was interrupted in the middle of compiling. */
function openAjvs(): { first: Ajv2020; all: Ajv2020 } {
  ajvs ??= { first: makeAjv(false), all: makeAjv(true) };
  return ajvs;
}

/** A fault in plain words, at the place it is about. */
function toIssue(error: ErrorObject): Issue {
  const at = error.instancePath;
  if (error.keyword === "required" || error.keyword === "dependentRequired") {
    return { path: at + jsonPointer([String(error.params.missingProperty)]), message: "is required" };
  }
  if (error.keyword === "additionalProperties") {
    return { path: at + jsonPointer([String(error.params.additionalProperty)]), message: "is not allowed" };
  }
  if (error.keyword === "unevaluatedProperties") {
    return { path: at + jsonPointer([String(error.params.unevaluatedProperty)]), message: "is not allowed" };
  }
  if (error.keyword === "enum") {
    const allowed = JSON.stringify(error.params.allowedValues ?? []);
    return { path: at, message: `must be one of ${allowed.slice(0, 300)}` };
  }
  if (error.keyword === "const") {
    const allowed = JSON.stringify(error.params.allowedValue ?? null);
    return { path: at, message: `must be ${allowed.slice(0, 300)}` };
  }
  return { path: at, message: (error.message ?? "is invalid").slice(0, 500) };
}

/** Every fault once, at most 20; a fault of a branch says less than the faults inside it. */
function toIssues(errors: ErrorObject[] | null | undefined): Issue[] {
  const seen = new Set<string>();
  const issues: Issue[] = [];
  for (const error of errors ?? []) {
    if (error.keyword === "if") continue;
    const issue = toIssue(error);
    const key = `${issue.path}\n${issue.message}`;
    if (seen.has(key)) continue;
    seen.add(key);
    issues.push(issue);
    if (issues.length === MAX_ISSUES) break;
  }
  return issues;
}

/** What Ajv would not refuse by itself: depth, references out of the document, other dialects. */
function findForbidden(schema: Json, keys: (string | number)[]): Issue | undefined {
  if (keys.length > MAX_SCHEMA_DEPTH) {
    return {
      path: jsonPointer(keys.slice(0, 8)),
      message: `is nested deeper than ${MAX_SCHEMA_DEPTH} levels`,
    };
  }
  if (schema === null || typeof schema !== "object") return undefined;
  for (const [key, member] of Array.isArray(schema) ? schema.entries() : Object.entries(schema)) {
    const here = [...keys, key];
    if ((key === "$ref" || key === "$dynamicRef") && typeof member === "string" && !member.startsWith("#")) {
      return {
        path: jsonPointer(here),
        message: "refers outside of the schema; only # references are allowed",
      };
    }
    if (key === "$schema" && member !== "https://json-schema.org/draft/2020-12/schema") {
      return { path: jsonPointer(here), message: "must be https://json-schema.org/draft/2020-12/schema" };
    }
    const issue = findForbidden(member, here);
    if (issue !== undefined) return issue;
  }
  return undefined;
}

function compile(schema: JsonObject, text: string): CompileResult {
  const fail = (path: string, message: string): CompileResult => ({ ok: false, issues: [{ path, message }] });
  if (text.length > MAX_SCHEMA_LENGTH) return fail("", `is larger than ${MAX_SCHEMA_LENGTH / 1024} KiB`);
  const forbidden = findForbidden(schema, []);
  if (forbidden !== undefined) return { ok: false, issues: [forbidden] };
  const { first, all } = openAjvs();
  try {
    return runTimeBoxed<CompileResult>(COMPILE_TIMEOUT_MS, () => {
      if (all.validateSchema(schema) !== true) return { ok: false, issues: toIssues(all.errors) };
      let every: ValidateFunction | undefined;
      const compiled: Compiled = {
        first: compileWith(first, text),
        all: () => {
          every ??= compileBounded(text);
          return every;
        },
        costly: COSTLY.test(text),
        suspectUntil: 0,
      };
      return { ok: true, compiled };
    });
  } catch (error) {
    if (error instanceof TimeBoxError) {
      ajvs = undefined;
      return { ok: false, issues: [{ path: "", message: "takes too long to compile" }], passing: true };
    }
    return fail("", error instanceof Error ? error.message.slice(0, 500) : "is invalid");
  }
}

/** The validator that finds every fault. Throws TimeBoxError. */
function compileBounded(text: string): ValidateFunction {
  const { all } = openAjvs();
  try {
    return runTimeBoxed(COMPILE_TIMEOUT_MS, () => compileWith(all, text));
  } catch (error) {
    if (error instanceof TimeBoxError) ajvs = undefined;
    throw error;
  }
}

/** Ajv keeps whatever it compiles by identity: a copy of our own can be taken out again. */
function compileWith(ajv: Ajv2020, text: string): ValidateFunction {
  const own: JsonObject = JSON.parse(text);
  try {
    return ajv.compile(own);
  } finally {
    ajv.removeSchema(own);
  }
}

function compileCached(schema: JsonObject): CompileResult {
  const text = JSON.stringify(schema);
  const known = cache.get(text);
  if (known !== undefined) {
    cache.delete(text);
    cache.set(text, known);
    return known;
  }
  const result = compile(schema, text);
  if (text.length <= MAX_SCHEMA_LENGTH && (result.ok || !result.passing)) {
    const oldest = cache.keys().next().value;
    if (cache.size >= MAX_CACHED && oldest !== undefined) cache.delete(oldest);
    cache.set(text, result);
  }
  return result;
}

/** The faults of a JSON Schema (2020-12) itself; paths lead into the schema. Empty: it is valid. */
export async function checkSchema(schema: JsonObject, _organizationId: string): Promise<Issue[]> {
  const result = compileCached(schema);
  return result.ok ? [] : result.issues;
}

/** The faults of a value against a schema, at most 20; paths lead into the value. Empty: it is valid. */
export async function validateAgainst(
  schema: JsonObject,
  value: Json,
  _organizationId: string,
): Promise<Issue[]> {
  const result = compileCached(schema);
  if (!result.ok) {
    const [issue] = result.issues;
    return [
      { path: "", message: `cannot be checked: the schema is invalid (${issue?.path} ${issue?.message})` },
    ];
  }
  const { compiled } = result;
  const { first, all, costly, suspectUntil } = compiled;
  const limitMs = performance.now() < suspectUntil ? SUSPECT_TIMEOUT_MS : VALIDATE_TIMEOUT_MS;
  const bounded = <Result>(work: () => Result): Result => (costly ? runTimeBoxed(limitMs, work) : work());
  try {
    if (bounded(() => first(value))) return [];
    if (JSON.stringify(value).length > ALL_FAULTS_LENGTH) return toIssues(first.errors);
    const every = all();
    bounded(() => every(value));
    return toIssues(every.errors);
  } catch (error) {
    if (!(error instanceof TimeBoxError)) throw error;
    compiled.suspectUntil = performance.now() + SUSPECT_FOR_MS;
    return [{ path: "", message: "takes too long to check against the schema" }];
  }
}

/** The issues as one sentence, for error messages of steps and for models. */
export function describeIssues(issues: readonly Issue[]): string {
  return issues.map((issue) => `${issue.path === "" ? "the value" : issue.path} ${issue.message}`).join("; ");
}

const MAX_INFERRED_DEPTH = 12;
const MAX_INFERRED_KEYS = 200;
const MAX_INFERRED_ITEMS = 200;

/**
 * The schema of a value, for outputs without a declared one: types, properties and what is present in every
 * item of an array. Bounded: deep, wide or long values are described as far as twelve levels, 200 keys and 200 items.
 */
export function inferSchema(value: Json): JsonObject {
  return infer(value, 0);
}

function infer(value: Json, depth: number): JsonObject {
  if (value === null) return { type: "null" };
  if (Array.isArray(value)) {
    if (value.length === 0 || depth >= MAX_INFERRED_DEPTH) return { type: "array" };
    const items = value.slice(0, MAX_INFERRED_ITEMS).map((item) => infer(item, depth + 1));
    return { type: "array", items: items.reduce(mergeSchemas) };
  }
  if (isJsonObject(value)) {
    if (depth >= MAX_INFERRED_DEPTH) return { type: "object" };
    const entries = Object.entries(value).slice(0, MAX_INFERRED_KEYS);
    return {
      type: "object",
      properties: Object.fromEntries(entries.map(([key, member]) => [key, infer(member, depth + 1)])),
      required: entries.map(([key]) => key),
    };
  }
  if (typeof value === "number") return { type: Number.isInteger(value) ? "integer" : "number" };
  return { type: typeof value };
}

/** The schemas a merged one stands for: the branches of its `anyOf`, or itself. */
function branches(schema: JsonObject): JsonObject[] {
  return Array.isArray(schema.anyOf) ? schema.anyOf.filter(isJsonObject) : [schema];
}

function mergeSchemas(a: JsonObject, b: JsonObject): JsonObject {
  const merged = branches(a);
  for (const branch of branches(b)) {
    const at = merged.findIndex((known) => known.type === branch.type || isNumeric(known, branch));
    const known = merged[at];
    if (known === undefined) merged.push(branch);
    else merged[at] = mergeSame(known, branch);
  }
  const [only] = merged;
  return merged.length === 1 && only !== undefined ? only : { anyOf: merged };
}

function isNumeric(a: JsonObject, b: JsonObject): boolean {
  return [a, b].every((schema) => schema.type === "integer" || schema.type === "number");
}

/** Merges two inferred schemas of the same type. */
function mergeSame(a: JsonObject, b: JsonObject): JsonObject {
  if (a.type !== b.type) return { type: "number" };
  if (a.type === "array") {
    if (!isJsonObject(a.items)) return b;
    return isJsonObject(b.items) ? { type: "array", items: mergeSchemas(a.items, b.items) } : a;
  }
  if (a.type !== "object" || !isJsonObject(a.properties) || !isJsonObject(b.properties)) return a;
  const properties = new Map(Object.entries(a.properties));
  for (const [key, schema] of Object.entries(b.properties)) {
    const known = properties.get(key);
    properties.set(key, isJsonObject(known) && isJsonObject(schema) ? mergeSchemas(known, schema) : schema);
  }
  const inB = new Set(Array.isArray(b.required) ? b.required : []);
  const required = Array.isArray(a.required) ? a.required.filter((key) => inB.has(key)) : [];
  return {
    type: "object",
    properties: Object.fromEntries([...properties].slice(0, MAX_INFERRED_KEYS)),
    required,
  };
}
