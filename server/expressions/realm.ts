import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";
import { MessageChannel, type MessagePort, receiveMessageOnPort, Worker } from "node:worker_threads";
import { z } from "zod";
import type { Json } from "@/server/json";

/** A fault in an expression or in its evaluation; the message is meant for its author. */
export class ExpressionError extends Error {
  override name = "ExpressionError";
}

/** Evaluates what is asked within `timeoutMs`. Throws ExpressionError. */
export type Realm = { ask(request: Record<string, Json>, timeoutMs: number): Json | undefined };

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

/** What the bell says of a question. */
const ASKED = 0;
const BEGUN = 1;
const ANSWERED = 2;

/**
 * What runs in the thread: it evaluates one question at a time in a context of its own, and says by the bell when it has
 * begun and when it has answered. A question that is stopped may leave the context in the middle of anything: then it is
 * thrown away.
 */
const THREAD = `
const { createContext, Script } = require("node:vm");
const { bell, port, source } = require("node:worker_threads").workerData;
const compiled = new Script(source, { filename: "expressions" });
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
function ring(word) {
  Atomics.store(bell, 0, word);
  Atomics.notify(bell, 0);
}
function answer({ request, timeoutMs }) {
  try {
    realm ??= open();
    ring(${BEGUN});
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
port.on("message", (question) => {
  port.postMessage(answer(question));
  ring(${ANSWERED});
});`;

const threadAnswer = z.object({
  message: z.union([
    z.object({ text: z.string() }),
    z.object({ fault: z.enum(["stopped", "failed", "endless"]) }),
  ]),
});

/** For the thread to start on a busy machine. */
const START_MS = 10_000;
/** Beyond the question's own time, for the thread to stop and to answer; one that died of memory never does. */
const GRACE_MS = 1_000;
/** A structure that outgrows this ends its thread, not the process. */
const MEMORY_MB = 512;

/**
 * A JavaScript realm for strangers' expressions: a library and a script of ours, which defines `$handle`. It reads JSON
 * from `$request` and leaves `{ok: true, value}` or `{ok: false, message, position}` as JSON in `$response`; nothing else
 * crosses the border. Microtasks are drained inside the call, so that asynchronous libraries answer synchronously, and all of
 * it is stopped for good when the time is up. Opened when first asked.
 *
 * It lives in a thread of its own, for which the caller waits: a microtask that is stopped in a thread where
 * AsyncLocalStorage is in use (Next uses it) aborts the whole process (nodejs/node#38503).
 */
export function createRealm(library: string, script: string): Realm {
  let source: string | undefined;
  let thread: { worker: Worker; port: MessagePort; bell: Int32Array } | undefined;

  function open() {
    source ??= `const module = { exports: {} }, exports = module.exports;\n${sourceOf(library)}\n${script}\n${FREEZE}`;
    const bell = new Int32Array(new SharedArrayBuffer(4));
    const { port1: port, port2 } = new MessageChannel();
    const worker = new Worker(THREAD, {
      eval: true,
      workerData: { bell, port: port2, source },
      transferList: [port2],
      env: {},
      execArgv: [],
      resourceLimits: { maxOldGenerationSizeMb: MEMORY_MB },
    });
    // One that fell over its memory answers nothing; who waits for it hears the bell no more and opens another.
    worker.on("error", () => {});
    worker.unref();
    port.unref();
    return { worker, port, bell };
  }

  /** Null when the thread does not answer. */
  function question(request: string, timeoutMs: number): z.infer<typeof threadAnswer>["message"] | null {
    thread ??= open();
    const { worker, port, bell } = thread;
    Atomics.store(bell, 0, ASKED);
    port.postMessage({ request, timeoutMs });
    Atomics.wait(bell, 0, ASKED, START_MS);
    Atomics.wait(bell, 0, BEGUN, timeoutMs + GRACE_MS);
    const received = threadAnswer.safeParse(receiveMessageOnPort(port));
    if (received.success) return received.data.message;
    thread = undefined;
    void worker.terminate();
    return null;
  }

  return {
    ask(request, timeoutMs) {
      const answered = question(JSON.stringify(request), timeoutMs);
      if (answered === null || ("fault" in answered && answered.fault === "failed")) {
        throw new ExpressionError("The expression could not be evaluated.");
      }
      if ("fault" in answered) {
        throw new ExpressionError(
          answered.fault === "stopped"
            ? `The expression was stopped after ${timeoutMs} ms.`
            : "The expression never comes to an end.",
        );
      }
      const answer = response.parse(JSON.parse(answered.text));
      if (answer.ok) return answer.value;
      const place = answer.position === null ? "" : ` (at character ${answer.position})`;
      throw new ExpressionError(`${answer.message}${place}`);
    },
  };
}
