import { isJsonObject, type Json, type JsonObject } from "@/server/base/json/json";
import { findRepeatedKey, parseLargeJson, stringifyLarge } from "@/server/base/json/large";
import { describeRepeatedKey } from "@/server/base/json/repeated-key";
import { canonicalText } from "@/server/base/json/text";
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

/** Longer arguments are compared as texts, because sorting their keys takes long. */
const MAX_COMPARED_LENGTH = 16 * 1024;

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
    const parsed = await parseArguments(call.arguments);
    const inputText = await stringifyLarge(parsed === undefined ? call.arguments : parsed.value);
    const isCompared = parsed !== undefined && inputText.length <= MAX_COMPARED_LENGTH;
    const identity = `${call.name} ${isCompared ? canonicalText(parsed.value) : call.arguments}`;
    const reject = (error: string): PreparedCall => ({ call, inputText, identity, error });

    if (index >= MAX_EXECUTED_CALLS) {
      return { ...reject(overLimitMessage(call, index, parsed?.value)), isOverLimit: true };
    }
    const callable = callables.find(({ name }) => name === call.name);
    if (callable === undefined && call.name === UNREADABLE_CALL)
      return reject(unreadableMessage(parsed?.value));
    if (callable === undefined) {
      const names = callables.map(({ name }) => name).join(", ");
      return reject(`There is no function or tool named "${call.name}". Available: ${names || "none"}.`);
    }
    if (parsed === undefined) return reject("The arguments are not valid JSON.");
    if (!isJsonObject(parsed.value)) return reject("The arguments must be a JSON object.");
    const issues = await checkArguments(callable, parsed.value, organizationId);
    if (issues.length > 0) return reject(`The arguments are not valid: ${describeIssues(issues)}`);
    const prepared = { call, inputText, identity, callable, input: parsed.value };
    return parsed.note === undefined ? prepared : { ...prepared, notes: new Set([parsed.note]) };
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
      const times = policy?.maxCalls === 1 ? "once" : `${policy?.maxCalls} times`;
      const error = `${name} may be called ${times} per run, and was. Continue without it.`;
      return { call, inputText, identity, error, isOverLimit: true };
    }
    uses.set(name, used + 1);
    return prepared;
  });
}

/** Some models send an empty text if a function has no arguments. Of a repeated key, the last value counts. */
async function parseArguments(text: string): Promise<{ value: Json; note?: string } | undefined> {
  if (text.trim() === "") return { value: {} };
  try {
    const json = replaceNul(text);
    // An escaped U+0000 appears only after parsing.
    const value = await cleanLargeJson(await parseLargeJson(json));
    const repeated = await findRepeatedKey(json);
    if (repeated === null) return { value };
    return { value, note: `${describeRepeatedKey(repeated)} The last value was used.` };
  } catch {
    return undefined;
  }
}

async function checkArguments(callable: AttachedCallable, input: JsonObject, organizationId: string) {
  if (callable.kind === "tool") {
    return validateAgainst(callable.definition.parameters, input, organizationId);
  }
  const definition = findFunction(callable.name);
  if (definition === undefined)
    return [{ path: "", message: `the function ${callable.name} no longer exists` }];
  return checkFunctionInput(definition, input);
}
