import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";
import { type Context, createContext, Script } from "node:vm";
import { z } from "zod";
import type { Json } from "@/server/json";
import { isTimeout } from "@/server/time-box";

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

const handle = new Script("$handle()", { filename: "expression" });

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
 * A JavaScript realm for strangers' expressions: a library and a script of ours, which defines `$handle`. It reads JSON
 * from `$request` and leaves `{ok: true, value}` or `{ok: false, message, position}` as JSON in `$response`; nothing else
 * crosses the border. Microtasks are drained inside the call, so that asynchronous libraries answer synchronously, and all of
 * it is stopped for good when the time is up; then the realm is thrown away. Opened when first asked.
 */
export function createRealm(library: string, script: string): Realm {
  let compiled: Script | undefined;
  let realm: Context | undefined;

  function open(): Context {
    compiled ??= new Script(
      `const module = { exports: {} }, exports = module.exports;\n${sourceOf(library)}\n${script}\n${FREEZE}`,
      { filename: library },
    );
    const context = createContext(Object.create(null), {
      microtaskMode: "afterEvaluate",
      codeGeneration: { strings: false, wasm: false },
    });
    compiled.runInContext(context);
    return context;
  }

  return {
    ask(request, timeoutMs) {
      realm ??= open();
      realm.$request = JSON.stringify(request);
      realm.$response = undefined;
      try {
        handle.runInContext(realm, { timeout: timeoutMs });
      } catch (error) {
        // An interrupted realm may be left in the middle of anything.
        realm = undefined;
        if (isTimeout(error)) throw new ExpressionError(`The expression was stopped after ${timeoutMs} ms.`);
        throw new ExpressionError("The expression could not be evaluated.", { cause: error });
      }
      const text: unknown = realm.$response;
      realm.$response = undefined;
      if (typeof text !== "string") throw new ExpressionError("The expression never comes to an end.");
      const answer = response.parse(JSON.parse(text));
      if (answer.ok) return answer.value;
      const place = answer.position === null ? "" : ` (at character ${answer.position})`;
      throw new ExpressionError(`${answer.message}${place}`);
    },
  };
}
