import { Ajv2019 } from "ajv/dist/2019.js";
import { Ajv2020, type ValidateFunction } from "ajv/dist/2020.js";
import { Ajv } from "ajv/dist/ajv.js";
import addFormats from "ajv-formats";
import { LRUCache } from "lru-cache";
import { z } from "zod";
import type { Issue } from "@/server/base/errors";
import { EXACT_MARK, isExactNumber, markExact } from "@/server/base/json/exact-number";
import { isContainer, type Json, type JsonObject, writeJson } from "@/server/base/json/json";
import { stringifyLarge } from "@/server/base/json/large";
import { isSmall } from "@/server/base/json/small";
import { perOwner } from "@/server/base/per-owner";
import { MIB } from "@/server/contract/sizes";
import { resolveInstalled, ThreadPool, threadOf } from "@/server/guard/sandbox/thread-pool";
import { EXACT_KEYWORDS } from "./exact-keywords";
import { type Dialect, dialectOf, normalizeSchema } from "./schema-dialect";
import { MAX_ERRORS, schemaError, toIssues } from "./schema-issues";
import { findRejection, stepsOf, toIssue } from "./schema-limits";

/**
 * Sizes are bounded and nothing is fetched. Costly checks run in a thread with a time limit and fair turns by
 * organization (docs/decisions/0022-work-on-what-tenants-send.md).
 */

// In characters. `stepsOf` bounds the parts that are compiled.
const MAX_COMPILED_HERE = 4 * 1024;
// Excludes the wait for a thread.
const VALIDATE_TIMEOUT_MS = 1_000;
const COMPILE_TIMEOUT_MS = 5_000;
// Of longer costly values, only the first issue is reported.
const ALL_ERRORS_LENGTH = 64 * 1024;
// In characters.
const CACHE_CAPACITY = 8 * MIB;

const AJV_OPTIONS = {
  validateSchema: false,
  strict: false,
  // `required: ["constructor"]` must not be satisfied by the prototype.
  ownProperties: true,
  // Otherwise, 2 KB with forty references to a large definition take three seconds to compile.
  inlineRefs: false,
  logger: false,
  messages: true,
} as const;

// Up to draft-07, what stands beside a reference has no effect.
const DRAFT_07 = { ignoreKeywordsWithRef: true } as const;

type KnownSchema = {
  text: string;
  marked: string;
  isExact: boolean;
  dialect: Dialect;
  issues: Issue[] | undefined;
  steps: number;
  compiled?: { validate: ValidateFunction } | { issue: string };
};

// A request is `{dialect, schema}`, to check the schema itself, or `{dialect, schema, value}`, with JSON
// texts. With `mark`, they have marked numbers (exact-keywords.ts). The response has Ajv's errors, or the
// reason why the schema cannot be compiled.
const SCHEMA_THREAD = threadOf(`(data) => {
  const addFormats = require(data.formats);
  const MAX_COMPILED = 50;
  const dialects = new Map();
  ${EXACT_KEYWORDS}

  function open(dialect, isExact) {
    const name = isExact ? dialect + " exact" : dialect;
    const known = dialects.get(name);
    if (known !== undefined) return known;
    const { default: Ajv } = require(data.ajv[dialect]);
    const createAjv = (allErrors) => {
      const ajv = addFormats(new Ajv({ ...data.options, ...data.more[dialect], allErrors }));
      return isExact ? addExactKeywords(ajv) : ajv;
    };
    const opened = {
      first: { ajv: createAjv(false), compiled: new Map(), isExact },
      all: { ajv: createAjv(true), compiled: new Map(), isExact },
    };
    dialects.set(name, opened);
    return opened;
  }

  function compile({ ajv, compiled: cache, isExact }, text) {
    let validate = cache.get(text);
    if (validate === undefined) {
      const schema = isExact ? unmarkSchema(JSON.parse(text)) : JSON.parse(text);
      validate = ajv.compile(schema);
      ajv.removeSchema(schema);
    }
    cache.delete(text);
    cache.set(text, validate);
    if (cache.size > MAX_COMPILED) cache.delete(cache.keys().next().value);
    return validate;
  }

  function findErrors({ dialect, schema, value, mark }) {
    const validators = open(dialect, mark !== undefined);
    if (value === undefined) {
      const { ajv } = validators.all;
      if (!ajv.validateSchema(JSON.parse(schema))) return ajv.errors;
      compile(validators.first, schema);
      return [];
    }
    const parsed = mark === undefined ? JSON.parse(value) : readMarked(value, mark);
    const first = compile(validators.first, schema);
    if (first(parsed)) return [];
    if (value.length > ${ALL_ERRORS_LENGTH}) return first.errors;
    const all = compile(validators.all, schema);
    all(parsed);
    return all.errors;
  }

  return (request) => (findErrors(request) ?? []).slice(0, ${MAX_ERRORS});
}`);

const pool = new ThreadPool({
  source: SCHEMA_THREAD,
  workerData: () => ({
    ajv: {
      "2020-12": resolveInstalled("ajv/dist/2020.js"),
      "2019-09": resolveInstalled("ajv/dist/2019.js"),
      "draft-07": resolveInstalled("ajv/dist/ajv.js"),
    },
    formats: resolveInstalled("ajv-formats"),
    options: AJV_OPTIONS,
    more: { "draft-07": DRAFT_07 },
  }),
  memoryMb: 256,
  value: z.array(schemaError),
});

const byText = new LRUCache<string, KnownSchema>({ maxSize: CACHE_CAPACITY });
const mainAjvs: Record<Dialect, Pick<Ajv, "compile" | "removeSchema">> = {
  "2020-12": addFormats.default(new Ajv2020({ ...AJV_OPTIONS, allErrors: true })),
  "2019-09": addFormats.default(new Ajv2019({ ...AJV_OPTIONS, allErrors: true })),
  "draft-07": addFormats.default(new Ajv({ ...AJV_OPTIONS, ...DRAFT_07, allErrors: true })),
};

// Parsed schemas never change, so the object itself is the cache key.
const recall = perOwner((schema: JsonObject): KnownSchema => {
  const text = writeJson(schema);
  const same = byText.get(text);
  if (same !== undefined) return same;
  const rejection = findRejection(schema, text);
  const known: KnownSchema =
    rejection === undefined
      ? prepare(schema)
      : { text, marked: text, isExact: false, dialect: "2020-12", issues: [rejection], steps: Infinity };
  byText.set(text, known, { size: text.length });
  return known;
});

// 19.99 is a multiple of 0.01, but the double is not (ajv-validator/ajv#928).
const DECIMAL_DIVISOR = /"multipleOf":[\d.]*(?:\.\d|e-)/;

function prepare(schema: JsonObject): KnownSchema {
  // Two organizations may use the same `$id`. References need none, because they all begin with "#".
  const { $id: _, ...normalized } = normalizeSchema(schema);
  const text = writeJson(normalized);
  const marked = markExact(text);
  return {
    text,
    marked,
    isExact: marked !== text || DECIMAL_DIVISOR.test(text),
    dialect: dialectOf(schema) ?? "2020-12",
    issues: undefined,
    steps: stepsOf(normalized),
  };
}

// Ajv caches by identity, so the copy is removed again.
function compileHere(known: KnownSchema): NonNullable<KnownSchema["compiled"]> {
  if (known.compiled !== undefined) return known.compiled;
  const schema: JsonObject = JSON.parse(known.text);
  const ajv = mainAjvs[known.dialect];
  try {
    known.compiled = { validate: ajv.compile(schema) };
  } catch (error) {
    known.compiled = { issue: error instanceof Error ? error.message.slice(0, 500) : "is invalid" };
  } finally {
    ajv.removeSchema(schema);
  }
  return known.compiled;
}

const unusable = (issue: Issue): Issue[] => [
  { path: "", message: `cannot be checked: the schema is invalid (${issue.path} ${issue.message})` },
];

async function callThread(
  check: { dialect: Dialect; schema: string; value?: string; mark?: string },
  timeoutMs: number,
  organizationId: string,
): Promise<{ issues: Issue[] } | { issue: string } | { unknown: Issue }> {
  const answer = await pool.ask(check, { timeoutMs, organizationId });
  if ("value" in answer) return { issues: toIssues(answer.value) };
  if ("issue" in answer) return answer;
  return { unknown: { path: "", message: `could not be checked ${answer.limit}` } };
}

/** The issues of a JSON Schema itself, with paths into the schema. Empty: it is valid. */
export async function checkSchema(schema: JsonObject, organizationId: string): Promise<Issue[]> {
  const known = recall(schema);
  if (known.issues === undefined) {
    const { dialect, text } = known;
    const answer = await callThread({ dialect, schema: text }, COMPILE_TIMEOUT_MS, organizationId);
    if ("unknown" in answer) return [answer.unknown];
    known.issues = "issue" in answer ? [toIssue(schema, answer.issue)] : answer.issues;
  }
  return known.issues;
}

// Only a thread compares numbers as decimals.
function hasExactNumber(value: Json): boolean {
  return isExactNumber(value) || (isContainer(value) && Object.values(value).some(hasExactNumber));
}

/** The issues of a value against a schema, at most 20, with paths into the value. Empty: it is valid. */
export async function validateAgainst(
  schema: JsonObject,
  value: Json,
  organizationId: string,
): Promise<Issue[]> {
  const known = recall(schema);
  if (known.issues?.[0] !== undefined) return unusable(known.issues[0]);
  const { isExact } = known;
  const isPlain = !isExact && known.text.length <= MAX_COMPILED_HERE;
  if (isPlain && isSmall(value, known.steps) && !hasExactNumber(value)) {
    const compiled = compileHere(known);
    if ("issue" in compiled) return unusable({ path: "", message: compiled.issue });
    return compiled.validate(value) ? [] : toIssues(compiled.validate.errors ?? []);
  }
  const text = await stringifyLarge(value);
  const marked = markExact(text);
  const check = {
    dialect: known.dialect,
    schema: known.marked,
    value: marked,
    ...((isExact || marked !== text) && { mark: EXACT_MARK }),
  };
  const answer = await callThread(check, VALIDATE_TIMEOUT_MS, organizationId);
  if ("unknown" in answer) return [answer.unknown];
  return "issue" in answer ? unusable({ path: "", message: answer.issue }) : answer.issues;
}
