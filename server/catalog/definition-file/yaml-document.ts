import { type Document, isScalar, Lexer, LineCounter, Parser, parseDocument, visit } from "yaml";
import type { Json } from "@/server/json/json";
import { MIB } from "@/server/limits/sizes";
import { formatPath } from "../issues";

/** A YAML text as JSON, with the line of each value. */
export type YamlDocument = {
  value: Json;
  /** A JSON path for messages with its line: `organizations[0].agents[1].maxSteps (line 12)`. */
  locate(path: Path): string;
  /** The line of a value, from 1; of its nearest parent if it is not there. Null for the whole document. */
  lineAt(path: Path): number | null;
};

/** Faults in the YAML itself; `line` counts from 1. */
type YamlFault = { line: number | null; message: string };

const MAX_BYTES = 4 * MIB;
export const MAX_FILE_DEPTH = 100;
const MAX_ALIASES = 100;
const MAX_FAULTS = 5;
/** A nest of the parser has at most two entries a level. */
const MAX_STACK = 2 * MAX_FILE_DEPTH + 10;

/**
 * Reads one YAML 1.2 document from an untrusted text. Size, depth and aliases are limited. Tags, and numbers that JSON
 * cannot hold, are faults. Keys are strings and unique.
 * @param limits.parts how many words, marks and comments it may have; it is read within one turn of the event loop.
 */
export function readYaml(
  source: string,
  limits: { parts: number } = { parts: Number.POSITIVE_INFINITY },
): YamlDocument | { faults: YamlFault[] } {
  if (Buffer.byteLength(source) > MAX_BYTES) {
    return { faults: [{ line: null, message: "The file has more than 4 MiB." }] };
  }
  const excess = findExcess(source, limits.parts);
  if (excess) return { faults: [excess] };
  const lines = new LineCounter();
  const document = parseDocument(source, {
    lineCounter: lines,
    prettyErrors: false,
    stringKeys: true,
    // Its own check compares each key with every other one: minutes for a large map.
    uniqueKeys: false,
    logLevel: "error",
  });
  const found = [...document.errors, ...document.warnings];
  if (found.length > 0) {
    const faults = found.slice(0, MAX_FAULTS).map((fault) => ({
      line: lines.linePos(fault.pos[0]).line,
      message: `${fault.message.replace(/\.$/, "")}.`,
    }));
    return { faults };
  }
  const locate = (path: Path) => describeLocation(document, lines, path);
  try {
    const repeated = findRepeatedKeys(document, lines);
    if (repeated.length > 0) return { faults: repeated };
    const read: unknown = document.toJS({ maxAliasCount: MAX_ALIASES });
    const value = copyJson(read, [], { left: MAX_BYTES });
    return { value, locate, lineAt: (path) => lineOf(document, lines, path) };
  } catch (error) {
    const line = error instanceof UnjsonError ? lineOf(document, lines, error.path) : null;
    const message = error instanceof Error ? error.message : "The file cannot be read";
    return { faults: [{ line, message: `${message.replace(/\.$/, "")}.` }] };
  }
}

/**
 * A text that is too long or nests too deeply to be composed. A stack overflow would end the process if it happened
 * while a regular expression is compiled.
 */
function findExcess(source: string, maxParts: number): YamlFault | null {
  const lines = new LineCounter();
  lines.addNewLine(0);
  const parser = new Parser(lines.addNewLine);
  const excess = (message: string) => ({ line: lines.linePos(parser.offset).line, message });
  let parts = 0;
  for (const part of new Lexer().lex(source)) {
    // Only to move on: the tokens are not needed.
    Array.from(parser.next(part));
    parts += 1;
    if (parts > maxParts) return excess(`The text has more than ${maxParts} words and marks.`);
    if (parser.stack.length > MAX_STACK) {
      return excess(`The document nests deeper than ${MAX_FILE_DEPTH} levels.`);
    }
  }
  return null;
}

function findRepeatedKeys(document: Document.Parsed, lines: LineCounter): YamlFault[] {
  const faults: YamlFault[] = [];
  visit(document, {
    Map(_, { items }) {
      const keys = new Set<unknown>();
      for (const { key } of items) {
        if (!isScalar(key)) continue;
        if (keys.has(key.value)) {
          const line = key.range ? lines.linePos(key.range[0]).line : null;
          if (faults.push({ line, message: "Map keys must be unique." }) === MAX_FAULTS) return visit.BREAK;
        }
        keys.add(key.value);
      }
      return undefined;
    },
  });
  return faults;
}

type Path = readonly (string | number)[];

/** A value that JSON cannot hold, or one that is too large. */
class UnjsonError extends Error {
  readonly path: Path;

  constructor(path: Path, message: string) {
    super(message);
    this.path = path;
  }
}

/** Copies a value, so that no object occurs twice. `budget` bounds the expansion of aliases. Throws UnjsonError. */
function copyJson(value: unknown, path: Path, budget: { left: number }): Json {
  if (path.length > MAX_FILE_DEPTH) {
    throw new UnjsonError(path, `The document nests deeper than ${MAX_FILE_DEPTH} levels`);
  }
  budget.left -= typeof value === "string" ? value.length + 1 : 1;
  if (budget.left < 0) throw new UnjsonError(path, "The document expands to more than 4 MiB");
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

function describeLocation(document: Document.Parsed, lines: LineCounter, path: Path): string {
  const line = lineOf(document, lines, path);
  return `${formatPath(path) || "the file"}${line === null ? "" : ` (line ${line})`}`;
}

/** The line of the deepest existing part of a path: a missing key is reported at its parent. */
function lineOf(document: Document.Parsed, lines: LineCounter, path: Path): number | null {
  for (let length = path.length; length >= 0; length -= 1) {
    const node: unknown = length === 0 ? document.contents : document.getIn(path.slice(0, length), true);
    if (typeof node === "object" && node !== null && "range" in node && Array.isArray(node.range)) {
      const [start] = node.range;
      if (typeof start === "number") return lines.linePos(start).line;
    }
  }
  return null;
}
