import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { availableParallelism } from "node:os";
import path from "node:path";
import { Worker } from "node:worker_threads";
import { z } from "zod";
import { FairQueue } from "@/server/expressions/fair-queue";
import type { Json } from "@/server/json";

/** A fault in an expression or in its evaluation; the message is meant for its author. */
export class ExpressionError extends Error {
  override name = "ExpressionError";
}

/**
 * Evaluates what is asked within `timeoutMs`, in the turn of `party`: whoever's expression it is. Throws ExpressionError.
 */
export type Realm = {
  ask(request: Record<string, Json>, timeoutMs: number, party: string): Promise<Json | undefined>;
};

const response = z.discriminatedUnion("ok", [
  z.object({ ok: z.literal(true), value: z.custom<Json>().optional() }),
  z.object({ ok: z.literal(false), message: z.string(), position: z.number().nullable() }),
]);

/**
 * Freezes the built-in prototypes, so that no expression leaves anything behind for the next one. Array.prototype stays
 * writable to its heirs: JSONata gives single arrays a push of their own.
 */
const FREEZE = `
Object.freeze(Array);
Object.seal(Array.prototype);
for (const type of [Object, Function, String, Number, Boolean, RegExp, Date, Promise, Map, Set, Symbol, Error]) {
  Object.freeze(type);
  Object.freeze(type.prototype);
}`;

/** The source of a CommonJS file in a package: what runs in a realm must be born inside it. */
function sourceOf(file: string): string {
  const bases = [import.meta.url, path.join(process.cwd(), "package.json")];
  let failure: unknown;
  for (const base of bases) {
    try {
      return readFileSync(createRequire(base).resolve(file), "utf8");
    } catch (error) {
      failure = error;
    }
  }
  throw new Error(`${file} is not installed.`, { cause: failure });
}

/**
 * What runs in a thread: it evaluates one question at a time in a context of its own. A question that is stopped may leave
 * the context in the middle of anything: then it is thrown away.
 */
const THREAD = `
const { createContext, Script } = require("node:vm");
const { parentPort, workerData } = require("node:worker_threads");
const compiled = new Script(workerData.source, { filename: "expressions" });
const handle = new Script("$handle()", { filename: "expression" });
let realm;
function open() {
  const context = createContext(Object.create(null), {
    microtaskMode: "afterEvaluate",
    codeGeneration: { strings: false, wasm: false },
  });
  compiled.runInContext(context);
  return context;
}
function answer({ request, timeoutMs }) {
  try {
    realm ??= open();
    realm.$request = request;
    realm.$response = undefined;
    handle.runInContext(realm, { timeout: timeoutMs });
    const text = realm.$response;
    realm.$response = undefined;
    return typeof text === "string" ? { text } : { fault: "endless" };
  } catch (error) {
    realm = undefined;
    return { fault: error?.code === "ERR_SCRIPT_EXECUTION_TIMEOUT" ? "stopped" : "failed" };
  }
}
parentPort.on("message", (question) => parentPort.postMessage(answer(question)));`;

const threadAnswer = z.union([
  z.object({ text: z.string() }),
  z.object({ fault: z.enum(["stopped", "failed", "endless"]) }),
]);
type ThreadAnswer = z.infer<typeof threadAnswer>;

/** Threads of one realm. At least two: one party's expressions never have all of them. */
const THREADS = Math.max(2, Math.min(4, availableParallelism()));
/** Beyond the question's own time, for a thread to start and to answer on a busy machine. */
const GRACE_MS = 10_000;
/** How long one expression may take; what takes milliseconds is not stopped by a machine that is busy. */
export const EXPRESSION_TIMEOUT_MS = 5_000;
/** A structure that outgrows this ends its thread, not the process. */
const MEMORY_MB = 512;

/**
 * JavaScript realms for strangers' expressions: a library and a script of ours, which defines `$handle`. It reads JSON
 * from `$request` and leaves `{ok: true, value}` or `{ok: false, message, position}` as JSON in `$response`; nothing else
 * crosses the border. Microtasks are drained inside the call, so that an asynchronous library's answer is there when it
 * returns, and all of it is stopped for good when the time is up.
 *
 * They live in threads of their own, opened as they are needed. The process goes on meanwhile, and a microtask that is
 * stopped in a thread where AsyncLocalStorage is in use (Next uses it) would abort it (nodejs/node#38503). While all are
 * busy, parties take turns.
 */
export function createRealm(library: string, script: string): Realm {
  let source: string | undefined;
  const idle: Worker[] = [];
  const queue = new FairQueue(THREADS, THREADS - 1);

  function open(): Worker {
    source ??= `const module = { exports: {} }, exports = module.exports;\n${sourceOf(library)}\n${script}\n${FREEZE}`;
    const worker = new Worker(THREAD, {
      eval: true,
      workerData: { source },
      env: {},
      execArgv: [],
      resourceLimits: { maxOldGenerationSizeMb: MEMORY_MB },
    });
    // Heard by `question`; one that is being given up may still say something, which nobody needs.
    worker.on("error", () => {});
    worker.on("exit", () => {
      const index = idle.indexOf(worker);
      if (index >= 0) idle.splice(index, 1);
    });
    return worker;
  }

  /** A thread's answer; one that falls over its memory, or does not answer in time, is given up. */
  function question(request: string, timeoutMs: number): Promise<ThreadAnswer> {
    const worker = idle.pop() ?? open();
    // While it works it keeps the process alive, and only then.
    worker.ref();
    return new Promise((resolve) => {
      const leave = (answer: ThreadAnswer, usable: boolean) => {
        clearTimeout(timer);
        worker.off("message", hear).off("error", giveUp).off("exit", giveUp).unref();
        if (usable) idle.push(worker);
        else void worker.terminate();
        resolve(answer);
      };
      const hear = (message: unknown) => {
        const answer = threadAnswer.safeParse(message);
        leave(answer.success ? answer.data : { fault: "failed" }, answer.success);
      };
      const giveUp = () => leave({ fault: "failed" }, false);
      const timer = setTimeout(() => leave({ fault: "stopped" }, false), timeoutMs + GRACE_MS);
      worker.on("message", hear).on("error", giveUp).on("exit", giveUp);
      worker.postMessage({ request, timeoutMs });
    });
  }

  return {
    async ask(request, timeoutMs, party) {
      const answered = await queue.take(party, () => question(JSON.stringify(request), timeoutMs));
      if ("fault" in answered) {
        throw new ExpressionError(
          {
            failed: "The expression could not be evaluated.",
            stopped: `The expression was stopped after ${timeoutMs} ms.`,
            endless: "The expression never comes to an end.",
          }[answered.fault],
        );
      }
      const answer = response.parse(JSON.parse(answered.text));
      if (answer.ok) return answer.value;
      const place = answer.position === null ? "" : ` (at character ${answer.position})`;
      throw new ExpressionError(`${answer.message}${place}`);
    },
  };
}
