import { isJsonObject } from "@/server/base/json/json";
import { ExpressionError, parseExpression } from "@/server/work/expressions/jsonata";
import { quoted } from "@/server/work/expressions/quoted";
import { parseCondition, parseTemplate, type TemplateExpression } from "@/server/work/workflow/expressions";
import { findMembers } from "@/server/work/workflow/references";

/** The place where a text names a step, an input or a secret: the offsets of the name with its quotes. */
export type StepName = { from: number; to: number };

type Text = { path: (string | number)[]; text: string; isCondition: boolean };

/** The texts of a tool's definition that may hold expressions. `isCondition`: an `if` or a `forEach`. */
export function* textsOf(definition: unknown): Generator<Text> {
  if (!isJsonObject(definition)) return;
  const { steps, output } = definition;
  if (Array.isArray(steps))
    for (const [index, step] of steps.entries()) yield* textsOfStep(step, ["steps", index]);
  if (output !== undefined) yield* textsIn(output, ["output"]);
}

function* textsOfStep(step: unknown, path: Text["path"]): Generator<Text> {
  if (!isJsonObject(step)) return;
  for (const key of ["if", "forEach"]) {
    const text = step[key];
    if (typeof text === "string") yield { path: [...path, key], text, isCondition: true };
  }
  if (step.with !== undefined) yield* textsIn(step.with, [...path, "with"]);
  const { parallel } = step;
  if (!Array.isArray(parallel)) return;
  for (const [index, inner] of parallel.entries()) yield* textsOfStep(inner, [...path, "parallel", index]);
}

function* textsIn(value: unknown, path: Text["path"]): Generator<Text> {
  if (typeof value === "string") yield { path, text: value, isCondition: false };
  else if (Array.isArray(value))
    for (const [index, item] of value.entries()) yield* textsIn(item, [...path, index]);
  else if (isJsonObject(value))
    for (const [key, member] of Object.entries(value)) yield* textsIn(member, [...path, key]);
}

/** The places at which the expressions of a text name a step; none if one of them has a syntax error. */
export const findNamesOfStep = (text: string, { step, ...how }: { step: string } & Parsing) =>
  findNames(text, { root: "steps", name: step, ...how });

type Parsing = { isCondition: boolean; organizationId: string };

/** The same for a member of another name of the scope, such as `input`. */
export async function findNames(
  text: string,
  { root, name: wanted, ...how }: { root: string; name: string } & Parsing,
): Promise<StepName[]> {
  try {
    const found: StepName[] = [];
    for (const { parsed, at } of await expressionsOf(text, how)) {
      const { expression, references } = parsed;
      if (!references.some((reference) => reference.root === root && reference.member === wanted)) continue;
      const tree = await parseExpression(expression, how.organizationId);
      for (const { name, end } of findMembers(tree, root)) {
        const from = name === wanted ? beginOf(expression, { name, end }) : null;
        if (from !== null) found.push({ from: at + from, to: at + end });
      }
    }
    return found;
  } catch (error) {
    if (error instanceof ExpressionError) return [];
    throw error;
  }
}

/** The text with another name at these places. */
export const replaceNames = (text: string, names: readonly StepName[], name: string): string =>
  names
    .toSorted((a, b) => b.from - a.from)
    .reduce((all, { from, to }) => `${all.slice(0, from)}${quoted(name)}${all.slice(to)}`, text);

async function expressionsOf(
  text: string,
  { isCondition, organizationId }: Parsing,
): Promise<{ parsed: TemplateExpression; at: number }[]> {
  if (!text.includes("{{")) {
    if (!isCondition) return [];
    return [{ parsed: await parseCondition(text, organizationId), at: text.search(/\S/) }];
  }
  const found = [];
  let at = 0;
  for (const part of (await parseTemplate(text, organizationId)).parts) {
    if (typeof part === "string") {
      at += part.length;
      continue;
    }
    const begin = text.indexOf(part.expression, at + "{{".length);
    found.push({ parsed: part, at: begin });
    at = text.indexOf("}}", begin + part.expression.length) + "}}".length;
  }
  return found;
}

function beginOf(expression: string, { name, end }: { name: string; end: number }): number | null {
  const last = expression[end - 1] ?? "";
  const quote = /[`"']/.test(last) ? last : "";
  const token = `${quote}${name}${quote}`;
  const begin = end - token.length;
  return expression.slice(begin, end) === token ? begin : null;
}
