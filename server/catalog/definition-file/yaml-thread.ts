import { threadOf } from "@/server/guard/sandbox/thread-pool";

/**
 * The source of a thread that reads YAML. It posts the issues, or the value and a tree of lines as JSON texts,
 * which cost the main thread little. A tree is a number, or `[line, trees of the members]`.
 */
export const YAML_THREAD = threadOf(`(data) => {
  const { isMap, isScalar, isSeq, Lexer, LineCounter, Parser, parseDocument, visit } = require(data.yaml);

  function read({ source, parts, weight }) {
    const excess = findExcess(source, parts);
    if (excess) return { faults: [excess] };
    const lines = new LineCounter();
    const document = parseDocument(source, {
      lineCounter: lines,
      prettyErrors: false,
      stringKeys: true,
      merge: true,
      // Its own check compares each key with every other one: minutes for a large map.
      uniqueKeys: false,
      logLevel: "error",
    });
    const found = [...document.errors, ...document.warnings];
    if (found.length > 0) {
      const faults = found.slice(0, data.maxFaults).map((fault) => describe(fault, source, lines));
      return { faults: faults.filter((fault, at) => fault.message !== UNQUOTED || faults[at - 1]?.message !== UNQUOTED) };
    }
    const lineOf = (node) => (node && node.range ? lines.linePos(node.range[0]).line : null);
    try {
      if (data.mayBeExact.test(source)) visit(document, { Scalar: (_, node) => markNumber(node) });
      const repeated = findRepeatedKeys(document, lineOf);
      if (repeated.length > 0) return { faults: repeated };
      const expanded = document.toJS({ maxAliasCount: data.maxAliases });
      // They only hold what the rest refers to.
      if (isMap(document.contents)) for (const key in expanded) if (key.startsWith("x-")) delete expanded[key];
      const value = copyJson(expanded, [], { left: weight });
      const tree = treeOf(document.contents, lineOf);
      return { value: JSON.stringify(value), lines: JSON.stringify(tree) };
    } catch (error) {
      const message = String(error?.message ?? error).replace(/\\.$/, "") + ".";
      const line = error instanceof UnjsonError ? nearestLine(document, error.path, lineOf) : null;
      return { faults: [{ line, message }] };
    }
  }

  const UNQUOTED = 'A value that begins with {{ needs quotes, such as "{{ input.name }}".';
  const ADVICE = {
    MULTIPLE_DOCS: "The text has several documents, but only one is allowed.",
    BLOCK_AS_IMPLICIT_KEY: "A value that contains a colon before a space needs quotes.",
  };

  /** Common issues come with the way out (kislyuk/yq#115, borb-sh/quillmark#645). */
  function describe({ code, pos, message }, source, lines) {
    const { line } = lines.linePos(pos[0]);
    const start = lines.lineStarts[line - 1];
    const end = source.indexOf("\\n", start);
    const isUnquoted = /(?:^|[:,-])[ \\t]*\\{\\{/.test(source.slice(start, end < 0 ? undefined : end));
    if (isUnquoted) return { line, message: UNQUOTED };
    return { line, message: ADVICE[code] ?? message.replace(/\\.$/, "") + "." };
  }

  /** A double may not hold all its digits. */
  function markNumber(node) {
    if (typeof node.value !== "number" || !Number.isFinite(node.value) || node.source === undefined) return;
    const isDecimal = /^[-+]?[\\d.]/.test(node.source) && !/^0[xo]/.test(node.source);
    const digits = isDecimal ? toJsonNumber(node.source) : String(BigInt(node.source));
    if (data.mayBeExact.test(digits)) node.value = data.mark + digits;
  }

  /** YAML also writes +1, 007, .5 and 5. */
  function toJsonNumber(source) {
    const [, minus, whole, fraction, exponent] = /^[-+]?(-?)(\\d*)\\.?(\\d*)((?:[eE][-+]?\\d+)?)$/.exec(source);
    const sign = source.startsWith("-") ? "-" : minus;
    return sign + (whole.replace(/^0+(?=\\d)/, "") || "0") + (fraction && "." + fraction) + exponent;
  }

  /**
   * Rejects what nests too deeply: a stack overflow ends the process if it happens while a regular expression is
   * compiled.
   */
  function findExcess(source, maxParts) {
    const lines = new LineCounter();
    lines.addNewLine(0);
    const parser = new Parser(lines.addNewLine);
    const excess = (message) => ({ line: lines.linePos(parser.offset).line, message });
    let parts = 0;
    for (const part of new Lexer().lex(source)) {
      // Only to move on: the tokens are not needed.
      for (const _ of parser.next(part));
      parts += 1;
      if (parts > maxParts) return excess("The text has more than " + maxParts + " words and marks.");
      // A nest of the parser has at most two entries a level.
      if (parser.stack.length > 2 * data.maxDepth + 10) {
        return excess("The document nests deeper than " + data.maxDepth + " levels.");
      }
    }
    return null;
  }

  function findRepeatedKeys(document, lineOf) {
    const faults = [];
    visit(document, {
      Map(_, { items }) {
        const keys = new Set();
        for (const { key } of items) {
          if (!isScalar(key)) continue;
          if (keys.has(key.value)) {
            if (faults.push({ line: lineOf(key), message: "Map keys must be unique." }) === data.maxFaults) {
              return visit.BREAK;
            }
          }
          keys.add(key.value);
        }
      },
    });
    return faults;
  }

  class UnjsonError extends Error {
    constructor(path, message) {
      super(message);
      this.path = path;
    }
  }

  /** No object occurs twice in the copy. The budget bounds the expansion of aliases. */
  function copyJson(value, path, budget) {
    if (path.length > data.maxDepth) {
      throw new UnjsonError(path, "The document nests deeper than " + data.maxDepth + " levels");
    }
    budget.left -= data.valueWeight + (typeof value === "string" ? value.length : 0);
    if (budget.left < 0) throw new UnjsonError(path, "The document has too many or too long values");
    if (value === null || typeof value === "string" || typeof value === "boolean") return value;
    if (typeof value === "number") {
      if (Number.isFinite(value)) return value;
      throw new UnjsonError(path, "JSON cannot represent this number");
    }
    if (Array.isArray(value)) return value.map((item, index) => copyJson(item, [...path, index], budget));
    if (typeof value === "object" && Object.getPrototypeOf(value) === Object.prototype) {
      return Object.fromEntries(
        Object.entries(value).map(([key, item]) => [key, copyJson(item, [...path, key], budget)]),
      );
    }
    throw new UnjsonError(path, "JSON cannot represent this type of value");
  }

  function nearestLine(document, path, lineOf) {
    for (let length = path.length; length > 0; length -= 1) {
      const line = lineOf(document.getIn(path.slice(0, length), true));
      if (line !== null) return line;
    }
    return lineOf(document.contents);
  }

  function treeOf(node, lineOf) {
    const line = lineOf(node);
    if (isSeq(node)) return [line, node.items.map((item) => treeOf(item, lineOf))];
    if (!isMap(node)) return line;
    const members = Object.create(null);
    for (const { key, value } of node.items) if (isScalar(key)) members[key.value] = treeOf(value, lineOf);
    return [line, members];
  }

  return read;
}`);
