/**
 * Runs beside JSONata in the sandbox. A request is `{expression, parse: true}` or `{expression, input, seed}`, the
 * answer `{ok: true, value}` or `{ok: false, message, position}`.
 */
export const JSONATA_SCRIPT = `
(() => {
  "use strict";
  const jsonata = module.exports;
  const MAX_ITEMS = 200000;

  // JSONata expects a browser's functions or Node's Buffer. Like Buffer's "binary", these use a character's low byte
  // and ignore characters outside base64.
  const { atob, btoa } = globalThis;
  globalThis.window = {
    btoa: (text) => btoa(text.replace(/[^\\0-\\xff]/g, (unit) => String.fromCharCode(unit.charCodeAt(0) & 255))),
    atob(text) {
      const [before] = text.split("=");
      const digits = before.replaceAll("-", "+").replaceAll("_", "/").replace(/[^A-Za-z0-9+/]/g, "");
      return atob(digits.length % 4 === 1 ? digits.slice(0, -1) : digits);
    },
  };

  const cleanText = (text) => text.replaceAll("\\0", "\\uFFFD").toWellFormed();
  const isClean = (text) => !text.includes("\\0") && text.isWellFormed();

  // A function has no place in JSON: it is left out, as JSON.stringify does with JavaScript's own. U+0000 and
  // unpaired surrogates cannot be stored.
  const forJson = (key, value) => {
    if (typeof value === "string") return isClean(value) ? value : cleanText(value);
    // JSON.stringify would write null (IBM/JSONata4Java#37).
    if (typeof value === "number" && !Number.isFinite(value))
      throw new Error("The result has a number that JSON cannot hold: " + value + ". Is there a division by zero?");
    if (value === null || typeof value !== "object") return value;
    if (value._jsonata_lambda || value._jsonata_function) return undefined;
    if (Array.isArray(value) || Object.keys(value).every(isClean)) return value;
    return Object.fromEntries(Object.entries(value).map(([name, member]) => [cleanText(name), member]));
  };

  const success = (value) => {
    const text = JSON.stringify(value, forJson);
    return text === undefined ? '{"ok":true}' : '{"ok":true,"value":' + text + "}";
  };
  // JSONata's own messages name the number of items that was rejected as if it were the limit.
  const tooLong = "A sequence of the expression has more than " + MAX_ITEMS + " items.";
  const failure = (error) => {
    const isTooLong = error && (error.code === "D2014" || error.code === "D2015");
    const own = error && typeof error.message === "string" ? error.message : String(error);
    const message = isTooLong ? tooLong : own;
    const position = error && typeof error.position === "number" ? error.position : null;
    return JSON.stringify({ ok: false, message: cleanText(message.slice(0, 1000)), position });
  };

  const work = async ({ expression, parse, input }) => {
    const compiled = jsonata(expression, { stack: 400, sequence: MAX_ITEMS });
    return parse ? compiled.ast() : compiled.evaluate(input, {});
  };
  $start({ work, success, failure });
})();
`;
