import { z } from "zod";
import { formatLimit, MIB } from "@/server/contract/sizes";
import { QUICKJS_THREAD } from "@/server/guard/sandbox/quickjs-thread";
import { resolveInstalled, ThreadPool } from "@/server/guard/sandbox/thread-pool";

type SandboxOptions = {
  subject: string;
  /** Evaluated once, in order; the last one calls `$start`. */
  scripts: () => string[];
  memoryMib: number;
  /** In characters. */
  answerLength: number;
};
// For the few operations of QuickJS that its interrupt handler cannot stop, such as a copy of a large string.
const GRACE_MS = 2_000;

/** The note for a step whose code got numbers as texts. */
export const NUMBERS_AS_TEXTS =
  "Some numbers have more digits than expressions and scripts can calculate with. They got them as texts.";

export type Evaluation = {
  request: string;
  timeoutMs: number;
  now: Date;
  organizationId: string;
  /** If aborted while the evaluation waits for a thread, the evaluation does not start. */
  signal?: AbortSignal | undefined;
};

/** Throws the signal's reason. */
type Sandbox = (evaluation: Evaluation) => Promise<{ text: string } | { issue: string }>;

// Defines `$start`, which takes the functions of a sandbox: `work` handles a request; `success` and `failure`
// turn its value or error into the answer's text. `Math.random` follows from the request's `seed`, the same
// on every replay.
const START = `
(() => {
  "use strict";
  const { parse } = JSON;
  let state = 0;
  // mulberry32
  Math.random = () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
  globalThis.$start = ({ work, success, failure }) => {
    globalThis.$handle = (text) => {
      const { seed = "", ...request } = parse(text);
      state = 2166136261;
      for (let i = 0; i < seed.length; i += 1) state = Math.imul(state ^ seed.charCodeAt(i), 16777619);
      work(request).then(success).catch(failure).then((answer) => {
        globalThis.$answer = answer;
      });
    };
  };
})();
`;

/**
 * A sandbox for tenants' JavaScript: QuickJS in WebAssembly, in its own threads. Every request sees the state that the
 * scripts left (docs/decisions/0021-quickjs-sandbox.md).
 */
export function createSandbox({ subject, scripts, memoryMib, answerLength }: SandboxOptions): Sandbox {
  const pool = new ThreadPool({
    source: QUICKJS_THREAD,
    workerData: () => ({
      engine: resolveInstalled("quickjs-wasi"),
      wasm: resolveInstalled("quickjs-wasi/quickjs.wasm"),
      scripts: [START, ...scripts()],
      memoryBytes: memoryMib * MIB,
      maxAnswerLength: answerLength,
    }),
    // For requests and responses; the machine's own memory is not part of it.
    memoryMb: 256,
    value: z.string(),
  });
  return async ({ request, timeoutMs, now, ...shared }) => {
    const message = { request, timeoutMs, now: now.getTime() };
    const answer = await pool.ask(message, { ...shared, timeoutMs: timeoutMs + GRACE_MS });
    if ("value" in answer) return { text: answer.value };
    const excess = "issue" in answer ? answer.issue : answer.exceeded;
    if (excess === "time") return { issue: `The ${subject} was stopped after ${timeoutMs} ms.` };
    if (excess === "length")
      return { issue: `The ${subject}'s result is larger than ${formatLimit(answerLength)}.` };
    if (excess === "answer") return { issue: `The ${subject} waits for something that never happens.` };
    return { issue: `The ${subject} needs more than ${memoryMib} MiB of memory or nests too deeply.` };
  };
}
