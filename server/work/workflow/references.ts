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

// JSONata evaluates the step after `name@$variable` where it evaluates `name`: `b` of `steps.a@$a.b` is a step.
const isPlain = (step: ExpressionNode | undefined): boolean =>
  step === undefined || (step.focus === undefined && INNER_PARTS.every((part) => !(part in step)));

function walkPath(steps: ExpressionNode[], atScope: boolean, found: Found[]): void {
  const [first, ...rest] = steps;
  if (first === undefined) return;
  const leadsToScope = first.type === "variable" && (first.value === "$" || (first.value === "" && atScope));
  if (leadsToScope && isPlain(first) && rest[0]?.type === "name") {
    walkPath(rest, true, found);
    return;
  }
  if (leadsToScope || (atScope && first.type === "name")) {
    const root = leadsToScope ? null : nameOf(first);
    found.push(...(root === null ? [EVERYTHING] : findMembersOf(root, steps)));
    walkInnerParts(first, found);
  } else {
    walk(first, atScope, found);
  }
  if (first.focus === undefined) {
    for (const step of rest) walk(step, false, found);
  } else {
    if (atScope) found.push(EVERYTHING);
    walkPath(rest, atScope, found);
  }
}

function findMembersOf(root: string, names: ExpressionNode[]): Found[] {
  const [first, second, ...rest] = names;
  const path = plainPath(names);
  if (first === undefined || !isPlain(first)) return [{ root, member: null, path }];
  const own = { root, member: nameOf(second), path, end: second?.position };
  if (second?.focus === undefined) return [own];
  return [own, { root, member: null }, ...findMembersOf(root, [first, ...rest])];
}

/** The names up to the first step that is more than a name; null if one cannot be written. */
function plainPath(steps: ExpressionNode[]): string | null {
  const names: string[] = [];
  for (const step of steps) {
    const name = nameOf(step);
    if (name === null) break;
    if (name.includes("`")) return null;
    names.push(/^[A-Za-z_]\w*$/.test(name) ? name : `\`${name}\``);
    if (!isPlain(step)) break;
  }
  return names.join(".");
}
