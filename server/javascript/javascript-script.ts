import { SEEDED_RANDOM } from "@/server/sandbox/seeded-random";

/**
 * The script of the sandbox for `run_javascript`. `$handle` reads `{code, input, seed}` as JSON text and answers
 * `{ok: true, value, console}` or `{ok: false, message, console}`. The code is the body of an async function of `input`.
 */
export const JAVASCRIPT_SCRIPT = `
(() => {
  "use strict";
  const MAX_LINES = 100;
  const MAX_LINE_LENGTH = 500;
  const { parse, stringify } = JSON;
  const AsyncFunction = (async () => {}).constructor;
  let lines = [];

  ${SEEDED_RANDOM}

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

  globalThis.$handle = (request) => {
    const { code, input, seed } = parse(request);
    lines = [];
    seedRandom(seed);
    const run = async () => new AsyncFunction("input", code)(input);
    run().then(success).catch(failure).then((text) => {
      globalThis.$answer = text;
    });
  };
})();
`;
