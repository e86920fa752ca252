import { z } from "zod";
import { JAVASCRIPT_SCRIPT } from "@/server/javascript/javascript-script";
import type { Json } from "@/server/json/json";
import { parseLargeJson, stringifyLarge } from "@/server/json/large";
import { JsonTextError } from "@/server/json/text";
import { createSandbox, SandboxError } from "@/server/sandbox/sandbox";

/** What one script may take. */
export const SCRIPT_LIMITS = {
  codeLength: 64 * 1024,
  memoryMib: 64,
  timeoutMs: 10_000,
  /** Characters of the returned value's JSON and the console together. */
  answerLength: 2 * 1024 * 1024,
} as const;

/** Why a script has no result; the message is meant for its author. */
export class ScriptError extends Error {
  override name = "ScriptError";
  /** `threw`: the script itself failed; `limit`: it exceeded a limit. */
  readonly reason: "threw" | "limit";
  /** What it had printed. */
  readonly console: readonly string[];

  constructor(reason: ScriptError["reason"], message: string, lines: readonly string[] = []) {
    super(message);
    this.reason = reason;
    this.console = lines;
  }
}

const sandbox = createSandbox(() => [JAVASCRIPT_SCRIPT], SCRIPT_LIMITS);
const lines = z.array(z.string().max(1_000)).max(101).catch([]);
const response = z.discriminatedUnion("ok", [
  z.object({ ok: z.literal(true), value: z.custom<Json>(), console: lines }),
  z.object({ ok: z.literal(false), message: z.string(), console: lines }),
]);

/**
 * Runs JavaScript from a tenant: `code` is the body of an async function of `input`. It has no network, files, timers or
 * entropy; its clock always shows `now`, and `Math.random` is seeded. Throws ScriptError and the signal's reason.
 */
export async function runScript(
  code: string,
  input: Json,
  facts: { now: Date; seed: string; organizationId: string; signal: AbortSignal },
): Promise<{ value: Json; console: readonly string[] }> {
  const { seed, ...evaluation } = facts;
  const { timeoutMs, memoryMib, answerLength } = SCRIPT_LIMITS;
  const request = await stringifyLarge({ code, input, seed });
  const text = await sandbox({ request, timeoutMs, ...evaluation }).catch((error: unknown) => {
    if (!(error instanceof SandboxError)) throw error;
    const messages = {
      failed: `The script failed: it needs more than ${memoryMib} MiB of memory or nests too deeply.`,
      stopped: `The script was stopped after ${timeoutMs / 1000} seconds.`,
      "too large": `The script's result is larger than ${answerLength / 1024 ** 2} MiB.`,
      unanswered: "The script waits for something that never happens.",
    };
    throw new ScriptError("limit", messages[error.reason]);
  });
  const answer = await readAnswer(text);
  if (answer.ok) return { value: answer.value, console: answer.console };
  if (answer.message.startsWith("InternalError: out of memory"))
    throw new ScriptError("limit", `The script needs more than ${memoryMib} MiB of memory.`, answer.console);
  throw new ScriptError("threw", answer.message, answer.console);
}

/** Creates the function of `runScript` without calling it. */
const PARSE = 'new (async () => {}).constructor("input", input);';

/** The syntax error of a script's code; null if it has none. It is parsed in the sandbox. */
export async function findSyntaxError(code: string, organizationId: string): Promise<string | null> {
  const facts = { now: new Date(0), seed: "", organizationId, signal: new AbortController().signal };
  try {
    await runScript(PARSE, code, facts);
    return null;
  } catch (error) {
    if (!(error instanceof ScriptError)) throw error;
    return error.message;
  }
}

/** A script can replace what the sandbox answers with, so its answer is input like any other. */
async function readAnswer(text: string): Promise<z.infer<typeof response>> {
  try {
    return response.parse(await parseLargeJson(text));
  } catch (error) {
    const reason = error instanceof JsonTextError ? error.message : "it is not what the sandbox expects";
    throw new ScriptError("threw", `The script's result cannot be used: ${reason}`);
  }
}
