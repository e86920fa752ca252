import type { Issue } from "@/server/base/errors";
import { isJsonObject, type Json, type JsonObject, memberOf, tryParseJson } from "@/server/base/json/json";
import { findRepeatedKey, parseLargeJson, stringifyLarge } from "@/server/base/json/large";
import { describeRepeatedKey } from "@/server/base/json/repeated-key";
import { canonicalText, fromPointer } from "@/server/base/json/text";
import { cleanLargeJson, replaceNul } from "@/server/guard/secrets/stored-output";
import type { AttachedCallable } from "@/server/work/agent/definition";
import { checkFunctionInput } from "@/server/work/functions/core/execute";
import { findFunction } from "@/server/work/functions/core/registry";
import { validateAgainst } from "@/server/work/json-schema/schema";
import { describeIssues } from "@/server/work/json-schema/schema-issues";
import {
  FURTHER_CALLS,
  MAX_EXECUTED_CALLS,
  MAX_RECORDED_CALLS,
  type ToolCall,
  UNREADABLE_CALL,
} from "@/server/work/models/port";

/**
 * A checked call. `inputText` is the step's stored input: the arguments, or the raw text as a JSON string if they
 * were not JSON. `identity` is equal for identical calls.
 */
export type PreparedCall = {
  call: ToolCall;
  inputText: string;
  identity: string;
  /** For people, about the arguments. */
  notes?: ReadonlySet<string>;
} & (
  | { callable: AttachedCallable; input: JsonObject }
  /** `isOverLimit`: there were too many calls; the call itself may be right. */
  | { error: string; isOverLimit?: true }
);

/** `notes` are for people. */
type Arguments = { value: Json; notes: string[] };

// Longer arguments are compared as texts, because sorting their keys takes long.
const MAX_COMPARED_LENGTH = 16 * 1024;
// In characters, of a text within the arguments that is decoded.
const MAX_DECODED_LENGTH = 256 * 1024;

/**
 * Parses and checks the calls of one iteration, already cut by `limitCalls`. Invalid arguments become failing
 * calls, never exceptions.
 */
export async function prepareCalls(
  callables: readonly AttachedCallable[],
  calls: readonly ToolCall[],
  organizationId: string,
): Promise<PreparedCall[]> {
  const prepare = async (call: ToolCall, index: number): Promise<PreparedCall> => {
    const callable = callables.find(({ name }) => name === call.name);
    const parsed = await parseArguments(call.arguments);
    const isChecked = parsed !== undefined && callable !== undefined && index < MAX_EXECUTED_CALLS;
    const checked = isChecked ? await checkArguments(callable, parsed, organizationId) : undefined;
    const given = checked?.arguments ?? parsed;
    const inputText = await stringifyLarge(given === undefined ? call.arguments : given.value);
    const isCompared = given !== undefined && inputText.length <= MAX_COMPARED_LENGTH;
    const identity = `${call.name} ${isCompared ? canonicalText(given.value) : call.arguments}`;
    const reject = (error: string): PreparedCall => ({ call, inputText, identity, error });

    if (index >= MAX_EXECUTED_CALLS) {
      return { ...reject(overLimitMessage(call, index, given?.value)), isOverLimit: true };
    }
    if (callable === undefined && call.name === UNREADABLE_CALL)
      return reject(unreadableMessage(given?.value));
    if (callable === undefined) {
      const names = callables.map(({ name }) => name).join(", ");
      return reject(`There is no function or tool named "${call.name}". Available: ${names || "none"}.`);
    }
    if (given === undefined) return reject("The arguments are not valid JSON.");
    if (!isJsonObject(given.value)) return reject("The arguments must be a JSON object.");
    if (checked?.issues.length)
      return reject(`The arguments are not valid: ${describeIssues(checked.issues)}`);
    const prepared = { call, inputText, identity, callable, input: given.value };
    return given.notes.length === 0 ? prepared : { ...prepared, notes: new Set(given.notes) };
  };
  return Promise.all(calls.map(prepare));
}

function unreadableMessage(input: Json | undefined): string {
  const problem =
    isJsonObject(input) && typeof input.problem === "string" ? input.problem : "it is not complete";
  return `Could not read the call: ${problem}. Repeat it with a name and a JSON object of arguments.`;
}

const ONLY_SO_MANY = `only the first ${MAX_EXECUTED_CALLS} calls of one answer are executed`;

function overLimitMessage(call: ToolCall, index: number, input: Json | undefined): string {
  if (index < MAX_RECORDED_CALLS || call.name !== FURTHER_CALLS) {
    return `This is call ${index + 1}, and ${ONLY_SO_MANY}. Repeat it in your next answer if it is still needed.`;
  }
  const count =
    isJsonObject(input) && typeof input.count === "number" ? input.count.toLocaleString("en-US") : "";
  return `…and ${count} more calls were rejected: ${ONLY_SO_MANY}.`;
}

/** Rejects calls beyond the `maxCalls` of what they call. Counts the executed ones by name in `uses`. */
export function limitUses(calls: readonly PreparedCall[], uses: Map<string, number>): PreparedCall[] {
  return calls.map((prepared): PreparedCall => {
    if (!("callable" in prepared)) return prepared;
    const { callable, call, inputText, identity } = prepared;
    const { name, policy } = callable;
    const used = uses.get(name) ?? 0;
    if (used >= (policy?.maxCalls ?? Number.POSITIVE_INFINITY)) {
      const calls = policy?.maxCalls === 1 ? "its only call" : `its ${policy?.maxCalls} calls`;
      const error = `${name} has used ${calls} of this run. Continue without it.`;
      return { call, inputText, identity, error, isOverLimit: true };
    }
    uses.set(name, used + 1);
    return prepared;
  });
}

// Some models send an empty text if a function has no arguments. Of a repeated key, the last value counts.
async function parseArguments(text: string): Promise<Arguments | undefined> {
  if (text.trim() === "") return { value: {}, notes: [] };
  try {
    const json = replaceNul(text);
    // An escaped U+0000 appears only after parsing.
    const value = await cleanLargeJson(await parseLargeJson(json));
    const repeated = await findRepeatedKey(json);
    if (repeated === null) return { value, notes: [] };
    return { value, notes: [`${describeRepeatedKey(repeated)} The last value was used.`] };
  } catch {
    return undefined;
  }
}

/**
 * Some models encode a list or an object within the arguments once more, as text (earendil-works/pi#9931). Such a text
 * is decoded where the schema rejects it, if all arguments are valid then.
 */
async function checkArguments(
  callable: AttachedCallable,
  given: Arguments,
  organizationId: string,
): Promise<{ arguments: Arguments; issues: Issue[] }> {
  if (!isJsonObject(given.value)) return { arguments: given, issues: [] };
  const issues = await findIssues(callable, given.value, organizationId);
  if (issues.length === 0) return { arguments: given, issues };
  const places = new Set(issues.map(({ path }) => path));
  const decoded = await cleanLargeJson(
    [...places].reduce((value: Json, path) => decodeAt(value, fromPointer(path)), given.value),
  );
  if (!isJsonObject(decoded) || (await findIssues(callable, decoded, organizationId)).length > 0)
    return { arguments: given, issues };
  const notes = [...given.notes, "Arguments that came as JSON within a text were decoded."];
  return { arguments: { value: decoded, notes }, issues: [] };
}

function decodeAt(value: Json, [key, ...rest]: readonly (string | number)[]): Json {
  if (key !== undefined) {
    if (Array.isArray(value)) return value.map((item, at) => (at === key ? decodeAt(item, rest) : item));
    const member = memberOf(value, String(key));
    return isJsonObject(value) && member !== undefined ? { ...value, [key]: decodeAt(member, rest) } : value;
  }
  const isEncoded = typeof value === "string" && value.length <= MAX_DECODED_LENGTH && /^\s*[[{]/.test(value);
  return (isEncoded ? tryParseJson(value) : undefined) ?? value;
}

async function findIssues(callable: AttachedCallable, input: JsonObject, organizationId: string) {
  if (callable.kind === "tool") {
    return validateAgainst(callable.definition.parameters, input, organizationId);
  }
  const definition = findFunction(callable.name);
  if (definition === undefined)
    return [{ path: "", message: `the function ${callable.name} no longer exists` }];
  return checkFunctionInput(definition, input);
}
