import { threadOf } from "@/server/guard/sandbox/thread-pool";

/**
 * The source of a thread that reads YAML. It posts the issues, or the value and a tree of lines as JSON texts,
 * which cost the main thread little. A tree is a number, or `[line, trees of the members]`.
 */
export const YAML_THREAD = threadOf(`(data) => {
  const { isAlias, isMap, isScalar, isSeq, Lexer, LineCounter, Parser, parseDocument, visit } = require(data.yaml);

  function read({ source, parts, weight }) {
    const excess = findExcess(source, parts);
    if (excess) return { issues: [excess] };
    const lines = new LineCounter();
    const placeOf = (node) => (node && node.range ? place(lines, node.range[0]) : NOWHERE);
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
      const issues = found.slice(0, data.maxIssues).map((issue) => describe(issue, source, lines));
      return { issues: issues.filter((issue, at) => issue.message !== UNQUOTED || issues[at - 1]?.message !== UNQUOTED) };
    }
    let alias = null;
    try {
      const issues = findIssues(document);
      if (issues.length > 0) return { issues: issues.map(({ node, message }) => ({ ...placeOf(node), message })) };
      visit(document, { Alias: (_, node) => ((alias = node), visit.BREAK) });
      if (data.mayBeExact.test(source)) visit(document, { Scalar: (_, node) => markNumber(node) });
      const expanded = document.toJS({ maxAliasCount: data.maxAliases });
      // They only hold what the rest refers to.
      if (isMap(document.contents)) for (const key in expanded) if (key.startsWith("x-")) delete expanded[key];
      const value = copyJson(expanded, [], { left: weight });
      const tree = treeOf(document.contents, (node) => placeOf(node).line);
      return { value: JSON.stringify(value), lines: JSON.stringify(tree) };
    } catch (error) {
      const message = String(error?.message ?? error).replace(/\\.$/, "") + ".";
      // The library itself throws only for what aliases expand to.
      const at = error instanceof UnjsonError ? nearestPlace(document, error.path, placeOf) : placeOf(alias);
      return { issues: [{ ...at, message }] };
    }
  }

  const NOWHERE = { line: null, column: null };
  function place(lines, offset) {
    const { line, col } = lines.linePos(offset);
    return { line, column: col };
  }

  const UNQUOTED = 'A value that begins with {{ needs quotes, such as "{{ input.name }}".';
  const ADVICE = {
    MULTIPLE_DOCS: "The text has several documents, but only one is allowed.",
    BLOCK_AS_IMPLICIT_KEY: "A value that contains a colon before a space needs quotes.",
  };

  /** Common issues come with the way out (kislyuk/yq#115, borb-sh/quillmark#645). */
  function describe({ code, pos, message }, source, lines) {
    const at = place(lines, pos[0]);
    const { line } = at;
    const start = lines.lineStarts[line - 1];
    const end = source.indexOf("\\n", start);
    const isUnquoted = /(?:^|[:,-])[ \\t]*\\{\\{/.test(source.slice(start, end < 0 ? undefined : end));
    if (isUnquoted) return { ...at, message: UNQUOTED };
    return { ...at, message: ADVICE[code] ?? message.replace(/\\.$/, "") + "." };
  }

  /** A double may not hold all its digits. */
  function markNumber(node) {
    if (typeof node.value !== "number" || !Number.isFinite(node.value) || node.source === undefined) return;
    const source = node.source.replaceAll("_", "");
    const digits = /^0[xob]/.test(source) ? String(BigInt(source)) : toJsonNumber(source);
    if (digits !== null && data.mayBeExact.test(digits)) node.value = data.mark + digits;
  }

  /** YAML also writes .5 and 5. Null for other forms, such as 1:30 in YAML 1.1. */
  function toJsonNumber(source) {
    const parts = /^(-?)(\\d*)\\.?(\\d*)((?:[eE][-+]?\\d+)?)$/.exec(source);
    if (parts === null) return null;
    const [, minus, whole, fraction, exponent] = parts;
    return minus + (whole || "0") + (fraction && "." + fraction) + exponent;
  }

  /**
   * Postal codes, telephone numbers and addresses of ledgers, which YAML 1.2 reads as numbers (wireviz/WireViz#213).
   * JSON has no such numbers.
   */
  const MEANS_TEXT = /^(?:[-+]?0\\d|\\+|0x[\\da-fA-F]{17})/;

  /**
   * Rejects what nests too deeply: a stack overflow ends the process if it happens while a regular expression is
   * compiled.
   */
  function findExcess(source, maxParts) {
    const lines = new LineCounter();
    lines.addNewLine(0);
    const parser = new Parser(lines.addNewLine);
    const excess = (message) => ({ ...place(lines, parser.offset), message });
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

  /** Issues that the library does not find, or finds without their place. */
  function findIssues(document) {
    const issues = [];
    const report = (node, message) =>
      issues.push({ node, message }) === data.maxIssues ? visit.BREAK : undefined;
    // The library would search the document for each alias.
    const anchors = new Map();
    const remember = (node) => node.anchor && anchors.set(node.anchor, node);
    // An unknown alias is an issue of its own.
    const resolve = (node) => (isAlias(node) ? anchors.get(node.source) : node);
    const isUnmerged = (node) => !isMap(resolve(node)) && !(isAlias(node) && !anchors.has(node.source));
    visit(document, {
      Map(_, node) {
        remember(node);
        const keys = new Set();
        for (const { key } of node.items) {
          if (!isScalar(key)) continue;
          if (keys.has(key.value) && report(key, "The key " + JSON.stringify(cut(String(key.value))) + " appears twice.")) return visit.BREAK;
          keys.add(key.value);
        }
      },
      Seq: (_, node) => void remember(node),
      Pair(_, { key, value }) {
        if (!isScalar(key) || key.source !== "<<" || key.type !== "PLAIN") return;
        const source = resolve(value);
        const wrong = isSeq(source) ? source.items.find(isUnmerged) : isUnmerged(value) ? value : undefined;
        if (wrong !== undefined) return report(isAlias(value) ? value : wrong, UNMERGED);
      },
      Alias(_, node) {
        if (!anchors.has(node.source)) return report(node, "There is no &" + cut(node.source) + " before *" + cut(node.source) + ".");
      },
      Scalar(key, node) {
        remember(node);
        const { source, type, value } = node;
        if (key === "key" || type !== "PLAIN" || typeof value !== "number" || !MEANS_TEXT.test(source)) return;
        return report(node, "YAML reads " + cut(source) + " as a number. Write " + JSON.stringify(cut(source)) + " in quotes.");
      },
    });
    return issues;
  }

  const UNMERGED = 'The value of << must be a map, an alias of one, or a list of them. Write "<<" for a key of this name.';
  const cut = (text) => (text.length > 50 ? text.slice(0, 50) + "…" : text);

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

  function nearestPlace(document, path, placeOf) {
    for (let length = path.length; length > 0; length -= 1) {
      const at = placeOf(document.getIn(path.slice(0, length), true));
      if (at.line !== null) return at;
    }
    return placeOf(document.contents);
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
