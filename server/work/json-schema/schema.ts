import { Ajv2020, type ValidateFunction } from "ajv/dist/2020.js";
import addFormats from "ajv-formats";
import { LRUCache } from "lru-cache";
import { z } from "zod";
import type { Issue } from "@/server/base/errors";
import type { Json, JsonObject } from "@/server/base/json/json";
import { stringifyLarge } from "@/server/base/json/large";
import { perOwner } from "@/server/base/per-owner";
import { MIB } from "@/server/contract/sizes";
import { resolveInstalled, ThreadPool, threadOf } from "@/server/guard/sandbox/thread-pool";
import { boundCost, isWithin, type SchemaCost } from "./schema-cost";
import { MAX_ERRORS, schemaError, toIssues } from "./schema-issues";
import { findRefusal } from "./schema-limits";

/**
 * JSON Schema 2020-12 of tenants, for untrusted values. Sizes are bounded and nothing is fetched. Cheap checks run on
 * the main thread; others run in a thread with a time limit and fair turns by organization
 * (docs/decisions/0022-schema-checks-in-threads.md).
 */

/** The most steps (schema-cost.ts) of a check on the main thread: a few milliseconds. */
const MAX_STEPS = 20_000;
/** The longest schema, in characters, that is compiled on the main thread, which takes up to 40 ms. */
const MAX_COMPILED_HERE = 4 * 1024;
/** Without the time in which a value or schema waits for a thread. */
const VALIDATE_TIMEOUT_MS = 1_000;
const COMPILE_TIMEOUT_MS = 5_000;
/** Of longer costly values, only the first fault is reported. */
const ALL_ERRORS_LENGTH = 64 * 1024;
/** Bounds the cache of schemas, in characters. */
const CACHE_CAPACITY = 8 * MIB;

/** Used on the main thread and in the threads; `checkSchema` checks the schema itself once. */
const AJV_OPTIONS = {
  validateSchema: false,
  strict: false,
  // `required: ["constructor"]` must not be satisfied by the prototype.
  ownProperties: true,
  // An `$id` is local to its schema: two organizations may use the same one.
  addUsedSchema: false,
  logger: false,
  messages: true,
} as const;

type KnownSchema = {
  text: string;
  /** The faults of the schema itself, once known. */
  issues: Issue[] | undefined;
  cost: SchemaCost;
  /** Compiled on first use, for cheap schemas only. */
  compiled?: { validate: ValidateFunction } | { fault: string };
};

/**
 * The thread compiles schemas and applies them to values, with Ajv. A request is
 * `{schema}`, to check the schema itself, or `{schema, value}`, all JSON texts. The response has Ajv's errors; its fault is
 * the reason why the schema cannot be compiled.
 */
const SCHEMA_THREAD = threadOf(`(data) => {
  const { Ajv2020 } = require(data.ajv);
  const addFormats = require(data.formats);
  const MAX_COMPILED = 50;

  const createAjv = (allErrors) => addFormats(new Ajv2020({ ...data.options, allErrors }));
  const ajvs = { first: createAjv(false), all: createAjv(true) };
  const compiled = { first: new Map(), all: new Map() };

  /** Validators of the schemas used last. Ajv keeps what it compiles by identity until it is taken out again. */
  function compile(kind, text) {
    const cache = compiled[kind];
    let validate = cache.get(text);
    if (validate === undefined) {
      const schema = JSON.parse(text);
      validate = ajvs[kind].compile(schema);
      ajvs[kind].removeSchema(schema);
    }
    cache.delete(text);
    cache.set(text, validate);
    if (cache.size > MAX_COMPILED) cache.delete(cache.keys().next().value);
    return validate;
  }

  function findErrors({ schema, value }) {
    if (value === undefined) {
      if (!ajvs.all.validateSchema(JSON.parse(schema))) return ajvs.all.errors;
      compile("first", schema);
      return [];
    }
    const parsed = JSON.parse(value);
    const first = compile("first", schema);
    if (first(parsed)) return [];
    if (value.length > ${ALL_ERRORS_LENGTH}) return first.errors;
    const all = compile("all", schema);
    all(parsed);
    return all.errors;
  }

  return (request) => (findErrors(request) ?? []).slice(0, ${MAX_ERRORS});
}`);

const pool = new ThreadPool({
  source: SCHEMA_THREAD,
  workerData: () => ({
    ajv: resolveInstalled("ajv/dist/2020.js"),
    formats: resolveInstalled("ajv-formats"),
    options: AJV_OPTIONS,
  }),
  memoryMb: 256,
  value: z.array(schemaError),
});

const byText = new LRUCache<string, KnownSchema>({ maxSize: CACHE_CAPACITY });
const mainAjv = new Ajv2020({ ...AJV_OPTIONS, allErrors: true });
addFormats.default(mainAjv);

/** Facts about a schema. Parsed schemas never change, so the object itself is the cache key. */
const recall = perOwner((schema: JsonObject): KnownSchema => {
  const text = JSON.stringify(schema);
  const same = byText.get(text);
  if (same !== undefined) return same;
  const refusal = findRefusal(schema, text);
  const known: KnownSchema =
    refusal === undefined
      ? { text, issues: undefined, cost: boundCost(schema) }
      : { text, issues: [refusal], cost: null };
  byText.set(text, known, { size: text.length });
  return known;
});

/** Compiles a cheap schema on the main thread. Ajv caches by identity, so the copy is removed again. */
function compileHere(known: KnownSchema): NonNullable<KnownSchema["compiled"]> {
  if (known.compiled !== undefined) return known.compiled;
  const schema: JsonObject = JSON.parse(known.text);
  try {
    known.compiled = { validate: mainAjv.compile(schema) };
  } catch (error) {
    known.compiled = { fault: error instanceof Error ? error.message.slice(0, 500) : "is invalid" };
  } finally {
    mainAjv.removeSchema(schema);
  }
  return known.compiled;
}

const unusable = (issue: Issue): Issue[] => [
  { path: "", message: `cannot be checked: the schema is invalid (${issue.path} ${issue.message})` },
];

/** A thread's result: issues, why the schema cannot be compiled, or that there is none. */
async function callThread(
  check: { schema: string; value?: string },
  timeoutMs: number,
  organizationId: string,
): Promise<{ issues: Issue[] } | { fault: string } | { unknown: Issue }> {
  const answer = await pool.ask(check, { timeoutMs, organizationId });
  if ("value" in answer) return { issues: toIssues(answer.value) };
  if ("fault" in answer) return answer;
  return { unknown: { path: "", message: `could not be checked ${answer.limit}` } };
}

/** The faults of a JSON Schema (2020-12) itself, with paths into the schema. Empty: it is valid. */
export async function checkSchema(schema: JsonObject, organizationId: string): Promise<Issue[]> {
  const known = recall(schema);
  if (known.issues === undefined) {
    const answer = await callThread({ schema: known.text }, COMPILE_TIMEOUT_MS, organizationId);
    if ("unknown" in answer) return [answer.unknown];
    known.issues = "fault" in answer ? [{ path: "", message: answer.fault }] : answer.issues;
  }
  return known.issues;
}

/** The faults of a value against a schema, at most 20, with paths into the value. Empty: it is valid. */
export async function validateAgainst(
  schema: JsonObject,
  value: Json,
  organizationId: string,
): Promise<Issue[]> {
  const known = recall(schema);
  if (known.issues?.[0] !== undefined) return unusable(known.issues[0]);
  if (known.text.length <= MAX_COMPILED_HERE && isWithin(known.cost, value, MAX_STEPS)) {
    const compiled = compileHere(known);
    if ("fault" in compiled) return unusable({ path: "", message: compiled.fault });
    return compiled.validate(value) ? [] : toIssues(compiled.validate.errors ?? []);
  }
  const check = { schema: known.text, value: await stringifyLarge(value) };
  const answer = await callThread(check, VALIDATE_TIMEOUT_MS, organizationId);
  if ("unknown" in answer) return [answer.unknown];
  return "fault" in answer ? unusable({ path: "", message: answer.fault }) : answer.issues;
}
