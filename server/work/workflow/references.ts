import { isJsonObject, type Json } from "@/server/base/json/json";
import type { ExpressionNode } from "@/server/work/expressions/jsonata";

/** A reference of an expression: `steps.fetch.body` has root `steps` and member `fetch`. Null means all of them. */
export type Reference = { root: string | null; member: string | null };

/**
 * `path`: the plain path it begins with (`steps.fetch.body` of `steps.fetch.body[ok].name`). `end`: the offset
 * behind its member's name.
 */
type Found = Reference & { path?: string | null; end?: Json | undefined };

const EVERYTHING: Found = { root: null, member: null };

/**
 * The references of an expression to its scope. In predicates and later path steps, a bare name belongs to an
 * element, and only `$$` leads back to the scope. If the tree is unclear, everything counts as read.
 */
export function findReferences(tree: ExpressionNode): Reference[] {
  return find(tree).map(({ root, member }) => ({ root, member }));
}

/** The plain paths that an expression reads from its scope, each once: `steps.fetch.state`. */
export function findPaths(tree: ExpressionNode): string[] {
  return [...new Set(find(tree).flatMap(({ path }) => path ?? []))];
}

/**
 * The places where an expression names a member of `root`, such as a step. `end` is the offset behind the name's
 * last character, which may be a quote.
 */
export function findMembers(tree: ExpressionNode, wanted: string): { name: string; end: number }[] {
  return find(tree).flatMap(({ root, member, end }) =>
    root === wanted && member !== null && typeof end === "number" ? [{ name: member, end }] : [],
  );
}

function find(tree: ExpressionNode): Found[] {
  const found: Found[] = [];
  walk(tree, true, found);
  return found;
}

const nodes = (value: Json | undefined): ExpressionNode[] => {
  if (Array.isArray(value)) return value.flatMap((item) => nodes(item));
  return isJsonObject(value) ? [value] : [];
};

const nameOf = (node: ExpressionNode | undefined): string | null =>
  (node?.type === "name" || node?.type === "string") && typeof node.value === "string" ? node.value : null;

const INNER_PARTS = ["predicate", "stages", "group", "terms", "pattern", "update", "delete"];

function walk(node: ExpressionNode, atScope: boolean, found: Found[]): void {
  if (node.type === "path") {
    walkPath(nodes(node.steps), atScope, found);
  } else if (node.type === "variable") {
    if (node.value === "$" || (node.value === "" && atScope)) found.push(EVERYTHING);
    if (node.value === "eval") found.push(EVERYTHING);
  } else if (node.type === "wildcard" || node.type === "descendant" || node.type === "parent") {
    if (atScope || node.type === "parent") found.push(EVERYTHING);
  } else if (node.type === "name") {
    if (atScope) found.push({ root: nameOf(node), member: null });
  } else {
    for (const [key, part] of Object.entries(node)) {
      if (key !== "steps" && !INNER_PARTS.includes(key))
        for (const child of nodes(part)) walk(child, atScope, found);
    }
  }
  walkInnerParts(node, found);
}

function walkInnerParts(node: ExpressionNode, found: Found[]): void {
  for (const key of INNER_PARTS) for (const child of nodes(node[key])) walk(child, false, found);
}

function walkPath(steps: ExpressionNode[], atScope: boolean, found: Found[]): void {
  const [first] = steps;
  if (first === undefined) return;
  const leadsToScope = first.type === "variable" && (first.value === "$" || (first.value === "" && atScope));
  const names = leadsToScope ? steps.slice(1) : steps;
  const hasNoInnerParts = (step: ExpressionNode | undefined) =>
    step === undefined || INNER_PARTS.every((part) => !(part in step));
  if (leadsToScope || (atScope && first.type === "name")) {
    const root = leadsToScope && !hasNoInnerParts(first) ? null : nameOf(names[0]);
    if (root === null) found.push(EVERYTHING);
    else {
      const isPlain = hasNoInnerParts(names[0]);
      const member = isPlain ? nameOf(names[1]) : null;
      const end = isPlain ? names[1]?.position : undefined;
      found.push({ root, member, path: plainPath(names, hasNoInnerParts), end });
    }
  } else {
    walk(first, atScope, found);
  }
  walkInnerParts(first, found);
  for (const step of steps.slice(1)) walk(step, false, found);
}

/** The names up to the first step that is more than a name; null if one cannot be written. */
function plainPath(
  steps: ExpressionNode[],
  hasNoInnerParts: (step: ExpressionNode) => boolean,
): string | null {
  const names: string[] = [];
  for (const step of steps) {
    const name = nameOf(step);
    if (name === null) break;
    if (name.includes("`")) return null;
    names.push(/^[A-Za-z_]\w*$/.test(name) ? name : `\`${name}\``);
    if (!hasNoInnerParts(step)) break;
  }
  return names.join(".");
}
