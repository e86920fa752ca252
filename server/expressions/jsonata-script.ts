/**
 * The script beside JSONata's own source in its realm (realm.ts).
 *
 * - Date and Math.random are replaced, so that an expression sees the moment and the chance it was given.
 * - The few native operations that can take gigabytes in one step are bounded, since a time limit alone
 *   cannot interrupt them.
 */
export const JSONATA_SCRIPT = `
(() => {
  "use strict";
  const jsonata = module.exports;
  const RealDate = Date;
  const MAX_TEXT = 4 * 1024 * 1024;
  const MAX_COMPILED = 500;
  const compiled = new Map();
  let now = 0;
  let state = 0;

  const tooLong = () => new RangeError("The expression makes a text of more than 4 MiB.");

  globalThis.Date = class Date extends RealDate {
    constructor(...parts) {
      if (parts.length === 0) super(now);
      else super(...parts);
    }
    static now() {
      return now;
    }
  };
  // mulberry32: small, and the same on every replay.
  Math.random = () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
  const seedFrom = (text) => {
    let hash = 2166136261;
    for (let i = 0; i < text.length; i += 1) hash = Math.imul(hash ^ text.charCodeAt(i), 16777619);
    return hash;
  };

  const repeat = String.prototype.repeat;
  String.prototype.repeat = function (count) {
    if (this.length * count > MAX_TEXT) throw tooLong();
    return repeat.call(this, count);
  };
  for (const name of ["padStart", "padEnd"]) {
    const pad = String.prototype[name];
    String.prototype[name] = function (length, fill) {
      if (length > MAX_TEXT) throw tooLong();
      return pad.call(this, length, fill);
    };
  }
  const join = Array.prototype.join;
  Array.prototype.join = function (separator) {
    let length = this.length * (separator === undefined ? 1 : String(separator).length);
    for (let i = 0; i < this.length; i += 1) {
      if (typeof this[i] === "string") length += this[i].length;
      if (length > MAX_TEXT) throw tooLong();
    }
    return join.call(this, separator);
  };

  const guard = (expression, input, environment, result) => {
    if (typeof result === "string" && result.length > MAX_TEXT) throw tooLong();
  };

  const compile = (text) => {
    const known = compiled.get(text);
    if (known !== undefined) {
      compiled.delete(text);
      compiled.set(text, known);
      return known;
    }
    const expression = jsonata(text, { stack: 400, sequence: 200000 });
    expression.assign(Symbol.for("jsonata.__evaluate_exit"), guard);
    if (compiled.size >= MAX_COMPILED) compiled.delete(compiled.keys().next().value);
    compiled.set(text, expression);
    return expression;
  };

  const cleanText = (text) => text.replaceAll("\\0", "\\uFFFD").toWellFormed();
  const isClean = (text) => !text.includes("\\0") && text.isWellFormed();

  // A function has no place in JSON: it is left out, as JSON.stringify does with JavaScript's own. U+0000 and
  // halves of characters cannot be stored.
  const forJson = (key, value) => {
    if (typeof value === "string") return isClean(value) ? value : cleanText(value);
    if (value === null || typeof value !== "object") return value;
    if (value._jsonata_lambda || value._jsonata_function) return undefined;
    if (Array.isArray(value) || Object.keys(value).every(isClean)) return value;
    return Object.fromEntries(Object.entries(value).map(([name, member]) => [cleanText(name), member]));
  };

  const failure = (error) => {
    const message = error && typeof error.message === "string" ? error.message : String(error);
    const position = error && typeof error.position === "number" ? error.position : null;
    return JSON.stringify({ ok: false, message: cleanText(message.slice(0, 1000)), position });
  };

  globalThis.$handle = () => {
    globalThis.$response = undefined;
    try {
      const request = JSON.parse(globalThis.$request);
      globalThis.$request = undefined;
      const expression = compile(request.expression);
      if (request.parse) {
        globalThis.$response = JSON.stringify({ ok: true, value: expression.ast() });
        return;
      }
      now = request.now;
      state = seedFrom(request.seed);
      const input = request.input === undefined ? undefined : JSON.parse(request.input);
      expression.evaluate(input, {}).then(
        (value) => {
          try {
            const text = JSON.stringify(value, forJson);
            if (text !== undefined && text.length > 4 * MAX_TEXT) throw new RangeError("The expression's result is larger than 16 MiB.");
            globalThis.$response = text === undefined ? '{"ok":true}' : '{"ok":true,"value":' + text + "}";
          } catch (error) {
            globalThis.$response = failure(error);
          }
        },
        (error) => {
          globalThis.$response = failure(error);
        },
      );
    } catch (error) {
      globalThis.$response = failure(error);
    }
  };
})();
`;
