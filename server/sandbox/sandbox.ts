import { z } from "zod";
import { QUICKJS_THREAD } from "@/server/sandbox/quickjs-thread";
import { resolveInstalled, ThreadPool } from "@/server/sandbox/thread-pool";

/** The limits of one evaluation, unless a sandbox sets lower ones. */
export const SANDBOX_LIMITS = {
  memoryMib: 256,
  /** The longest response, in characters. */
  answerLength: 16 * 1024 * 1024,
} as const;
export type SandboxLimits = { memoryMib: number; answerLength: number };
/** For the few operations of QuickJS that its interrupt handler cannot stop, such as a copy of a large string. */
const GRACE_MS = 2_000;
const MIB = 1024 * 1024;

export type Evaluation = {
  /** The argument of the script's `$handle`. */
  request: string;
  timeoutMs: number;
  /** The time that the script sees throughout. */
  now: Date;
  organizationId: string;
  /** An evaluation that is aborted while it waits for a thread does not begin. */
  signal?: AbortSignal;
};

/**
 * Why an evaluation has no result. It was `stopped` at its deadline, it `failed` in the engine, its response is `too
 * large`, or it waits for something that never happens.
 */
const sandboxFault = z.enum(["stopped", "failed", "too large", "unanswered"]);
export type SandboxFault = z.infer<typeof sandboxFault>;

/** Evaluates a request and returns the text in `$answer`. Throws the signal's reason. */
export type Sandbox = (evaluation: Evaluation) => Promise<{ text: string } | { fault: SandboxFault }>;

/**
 * A sandbox for tenants' JavaScript: QuickJS in WebAssembly, in its own threads. `scripts` are ours and evaluated once,
 * in order. They define `globalThis.$handle(request)`, which stores its response as a string in `globalThis.$answer`,
 * immediately or in a later microtask. Every request sees the state the scripts left
 * (docs/decisions/0021-quickjs-sandbox.md).
 */
export function createSandbox(scripts: () => string[], limits: SandboxLimits = SANDBOX_LIMITS): Sandbox {
  const pool = new ThreadPool({
    source: QUICKJS_THREAD,
    workerData: () => ({
      engine: resolveInstalled("quickjs-wasi"),
      wasm: resolveInstalled("quickjs-wasi/quickjs.wasm"),
      scripts: scripts(),
      memoryBytes: limits.memoryMib * MIB,
      maxAnswerLength: limits.answerLength,
    }),
    // For requests and responses; the machine's own memory is not part of it.
    memoryMb: 256,
    value: z.string(),
  });
  return async ({ request, timeoutMs, now, ...shared }) => {
    const message = { request, timeoutMs, now: now.getTime() };
    const answer = await pool.ask(message, { ...shared, timeoutMs: timeoutMs + GRACE_MS });
    if ("value" in answer) return { text: answer.value };
    if ("fault" in answer) return { fault: sandboxFault.parse(answer.fault) };
    return { fault: answer.exceeded === "time" ? "stopped" : "failed" };
  };
}
