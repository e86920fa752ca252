import { z } from "zod";
import { quoteExact } from "@/server/base/json/exact-number";
import type { Json } from "@/server/base/json/json";
import { parseLargeJson, stringifyLarge } from "@/server/base/json/large";
import { JsonTextError } from "@/server/base/json/text";
import { MIB } from "@/server/contract/sizes";
import type { StepMemory } from "@/server/guard/limits/process-memory";
import { createSandbox, NUMBERS_AS_TEXTS } from "@/server/guard/sandbox/sandbox";

export const SCRIPT_LIMITS = {
  codeLength: 64 * 1024,
  memoryMib: 64,
  timeoutMs: 10_000,
  /** The JSON of the returned value and the console together, in characters. */
  answerLength: 2 * MIB,
} as const;

type ScriptResult = { console: readonly string[]; notes: readonly string[] } & (
  | { value: Json }
  | { failure: "script_failed" | "script_limit"; message: string }
);

const sandbox = createSandbox({ ...SCRIPT_LIMITS, subject: "script", scripts: () => [JAVASCRIPT_SCRIPT] });
const lines = z.array(z.string().max(1_000)).max(101).catch([]);
const response = z.discriminatedUnion("ok", [
  z.object({ ok: z.literal(true), value: z.custom<Json>(), console: lines }),
  z.object({ ok: z.literal(false), message: z.string(), console: lines }),
]);

/**
 * Runs JavaScript from a tenant: `code` is the body of an async function of `input`, in which numbers that a double
 * cannot hold are texts. It has no network, files, timers or
 * entropy; its clock always shows `now`, and `Math.random` is seeded. Throws the signal's reason.
 */
export async function runScript(
  code: string,
  input: Json,
  facts: { now: Date; seed: string; organizationId: string; memory?: StepMemory; signal?: AbortSignal },
): Promise<ScriptResult> {
  const { seed, memory, ...evaluation } = facts;
  const { timeoutMs, memoryMib } = SCRIPT_LIMITS;
  const exact = await stringifyLarge({ code, input, seed });
  const request = quoteExact(exact);
  const notes = request === exact ? [] : [NUMBERS_AS_TEXTS];
  const evaluated = await sandbox({ request, timeoutMs, ...evaluation });
  if ("issue" in evaluated) return { failure: "script_limit", message: evaluated.issue, console: [], notes };
  await memory?.holdText(evaluated.text);
  const answer = await readAnswer(evaluated.text);
  if (answer.ok) return { ...answer, notes };
  const { message, console } = answer;
  if (!message.startsWith("InternalError: out of memory"))
    return { failure: "script_failed", message, console, notes };
  const excess = `The script needs more than ${memoryMib} MiB of memory.`;
  return { failure: "script_limit", message: excess, console, notes };
}

const PARSE = 'new (async () => {}).constructor("input", input);';

/** The syntax error of a script's code; null if it has none. It is parsed in the sandbox. */
export async function findSyntaxError(code: string, organizationId: string): Promise<string | null> {
  const result = await runScript(PARSE, code, { now: new Date(0), seed: "", organizationId });
  return "failure" in result ? result.message : null;
}

// A script can replace the functions that write the answer, so the answer is untrusted input.
async function readAnswer(text: string): Promise<z.infer<typeof response>> {
  try {
    return response.parse(await parseLargeJson(text));
  } catch (error) {
    const reason = error instanceof JsonTextError ? error.message : "it is not what the sandbox expects";
    return { ok: false, message: `The script's result cannot be used: ${reason}`, console: [] };
  }
}

// A request is `{code, input, seed}`, the answer `{ok: true, value, console}` or `{ok: false, message, console}`.
const JAVASCRIPT_SCRIPT = `
(() => {
  "use strict";
  const MAX_LINES = 100;
  const MAX_LINE_LENGTH = 500;
  const { stringify } = JSON;
  const AsyncFunction = (async () => {}).constructor;
  let lines = [];

  const show = (value) => {
    if (typeof value === "string") return value;
    try {
      return value instanceof Error ? String(value) : (stringify(value) ?? String(value));
    } catch {
      return "[a value that cannot be shown]";
    }
  };
  const print = (...values) => {
    if (lines.length < MAX_LINES) lines.push(values.map(show).join(" ").slice(0, MAX_LINE_LENGTH));
    else if (lines.length === MAX_LINES) lines.push("…");
  };
  globalThis.console = { log: print, info: print, warn: print, error: print, debug: print };

  const messageOf = (error) => {
    const text = error instanceof Error ? error.name + ": " + error.message : "Thrown: " + show(error);
    return text.slice(0, 1000);
  };
  const success = (value) => {
    const text = stringify(value === undefined ? null : value) ?? "null";
    return '{"ok":true,"value":' + text + ',"console":' + stringify(lines) + "}";
  };
  const failure = (error) => stringify({ ok: false, message: messageOf(error), console: lines });

  const work = async ({ code, input }) => {
    lines = [];
    return new AsyncFunction("input", code)(input);
  };
  $start({ work, success, failure });
})();
`;
