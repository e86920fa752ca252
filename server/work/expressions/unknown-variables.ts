import { isContainer, isJsonObject, type Json } from "@/server/base/json/json";
import type { ExpressionNode } from "@/server/work/expressions/jsonata";

const JSONATA_FUNCTIONS: readonly string[] = [
  ...["abs", "append", "assert", "average", "base64decode", "base64encode", "boolean", "ceil", "clone"],
  ...["contains", "count", "decodeUrl", "decodeUrlComponent", "distinct", "each", "encodeUrl"],
  ...["encodeUrlComponent", "error", "eval", "exists", "filter", "floor", "formatBase", "formatInteger"],
  ...["formatNumber", "fromMillis", "join", "keys", "length", "lookup", "lowercase", "map", "match", "max"],
  ...["merge", "millis", "min", "not", "now", "number", "pad", "parseInteger", "power", "random", "reduce"],
  ...["replace", "reverse", "round", "shuffle", "sift", "single", "sort", "split", "spread", "sqrt"],
  ...["string", "substring", "substringAfter", "substringBefore", "sum", "toMillis", "trim", "type"],
  ...["uppercase", "zip"],
];
// `$` is the context, `$$` the whole input.
const ALWAYS_KNOWN = new Set([...JSONATA_FUNCTIONS, "", "$"]);

/**
 * The issue of an expression that uses an unknown function or variable, or null. A name that the expression itself
 * sets anywhere counts as known.
 */
export function describeUnknownVariable(tree: ExpressionNode): string | null {
  const used = new Set<string>();
  const defined = new Set<string>();
  for (const node of nodesOf(tree)) {
    const { type, value } = node;
    if (type === "variable" && typeof value === "string") used.add(value);
    for (const name of [
      node.focus,
      node.index,
      type === "index" ? value : null,
      type === "bind" ? variableName(node.lhs) : null,
      ...(type === "lambda" && Array.isArray(node.arguments) ? node.arguments.map(variableName) : []),
    ])
      if (typeof name === "string") defined.add(name);
  }
  const unknown = [...used].find((name) => !ALWAYS_KNOWN.has(name) && !defined.has(name));
  if (unknown === undefined) return null;
  const known = JSONATA_FUNCTIONS.map((name) => `$${name}`).join(", ");
  return `there is no function or variable "$${unknown.slice(0, 100)}"; known functions: ${known}`;
}

const variableName = (node: Json | undefined): Json | undefined =>
  isJsonObject(node) && node.type === "variable" ? node.value : undefined;

function* nodesOf(tree: ExpressionNode): Generator<ExpressionNode> {
  const open: Json[] = [tree];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    if (!isContainer(next)) continue;
    if (!Array.isArray(next)) yield next;
    for (const member of Object.values(next)) open.push(member);
  }
}
