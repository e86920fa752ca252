import {
  type Document,
  isAlias,
  isMap,
  isNode,
  isScalar,
  isSeq,
  LineCounter,
  parseDocument,
  type Scalar,
  visit,
} from "yaml";
import { EXACT_MARK, MAY_BE_EXACT, unmarkExact } from "@/server/base/json/exact-number";
import { isJsonObject, readJson } from "@/server/base/json/json";
import { keepDigits } from "@/server/catalog/definition-file/write-yaml";

/**
 * Reads a tool's YAML as a list of steps, and changes it. The text is the only state. A change keeps comments,
 * order and quotes of everything else.
 */

/** A step as it is written; `fields` may be anything. */
export type StepView = {
  id: string;
  /** Null: a group of parallel steps, or not yet chosen. */
  uses: string | null;
  /** The number of steps in a group; null: not a group. */
  parallel: number | null;
  fields: Record<string, unknown>;
  /** First and last line, from 1. */
  lines: readonly [from: number, to: number];
};

export type ToolView = {
  fields: Record<string, unknown>;
  inputs: string[];
  steps: StepView[];
};

/** The location of a value in the document, such as `["steps", 0, "with", "url"]`. */
export type Path = readonly (string | number)[];

/** A step of the tool, or a member of the group at `index`. */
export type StepPlace = { index: number; member?: number | undefined };

export const pathOf = ({ index, member }: StepPlace): Path =>
  member === undefined ? ["steps", index] : ["steps", index, "parallel", member];

const MAX_ALIASES = 100;

/** The reason why a step cannot be moved or removed. */
export const ANCHORED = "Other parts of the YAML use its anchor. Change them first.";

/** The steps of a YAML; null if it has syntax errors or is not a mapping. */
export function readTool(text: string): ToolView | null {
  const lines = new LineCounter();
  const document = parse(text, lines);
  if (document === null) return null;
  const fields = toRecord(document, text);
  if (fields === null) return null;
  const steps = document.get("steps");
  const values = Array.isArray(fields.steps) ? fields.steps : [];
  const views = values.map((value: unknown, index): StepView => {
    const step = fieldsOf(value);
    const node: unknown = isSeq(steps) ? steps.items[index] : undefined;
    const [from = 0, to = 0] = isNode(node) ? (node.range ?? []) : [];
    return {
      ...step,
      parallel: Array.isArray(step.fields.parallel) ? step.fields.parallel.length : null,
      lines: [lines.linePos(from).line, lines.linePos(Math.max(from, to - 1)).line],
    };
  });
  const properties = isJsonObject(fields.parameters) ? fields.parameters.properties : undefined;
  return { fields, inputs: isJsonObject(properties) ? Object.keys(properties) : [], steps: views };
}

const fieldsOf = (value: unknown) => {
  const fields: Record<string, unknown> = isJsonObject(value) ? value : {};
  const { id, uses } = fields;
  return { id: typeof id === "string" ? id : "", uses: typeof uses === "string" ? uses : null, fields };
};

const listOf = (value: unknown): unknown[] => (Array.isArray(value) ? value : []);

export const membersOf = ({ fields, lines }: StepView): StepView[] =>
  listOf(fields.parallel).map((member) => ({ ...fieldsOf(member), parallel: null, lines }));

export const innerIdsOf = ({ fields }: Pick<StepView, "fields">): string[] =>
  listOf(fields.parallel)
    .map((member) => fieldsOf(member).id)
    .filter((id) => id !== "");

/** The step at a place; undefined if there is none. */
export function stepAt(tool: ToolView | null, { index, member }: StepPlace): StepView | undefined {
  const step = tool?.steps[index];
  return step === undefined || member === undefined ? step : membersOf(step)[member];
}

/** The place of the first step with an id; null if there is none. */
export function placeOf(tool: ToolView | null, id: string): StepPlace | null {
  for (const [index, step] of (tool?.steps ?? []).entries()) {
    if (step.id === id) return { index };
    const member = membersOf(step).findIndex((each) => each.id === id);
    if (member >= 0) return { index, member };
  }
  return null;
}

/** The ids of all steps and members but the one at a place. */
export function otherIds({ steps }: ToolView, place: StepPlace): string[] {
  return steps.flatMap((step, index) => [
    ...(index === place.index && place.member === undefined ? [] : [step.id]),
    ...membersOf(step).flatMap(({ id }, member) =>
      index === place.index && member === place.member ? [] : [id],
    ),
  ]);
}

/** The line of the value at a path, from 1, or of the value around it; null: the document has neither. */
export function lineAt(text: string, path: Path): number | null {
  const lines = new LineCounter();
  const document = parse(text, lines);
  for (let length = path.length; document !== null && length > 0; length -= 1) {
    const node: unknown = document.getIn(path.slice(0, length), true);
    if (isNode(node) && node.range) return lines.linePos(node.range[0]).line;
  }
  return null;
}

/** Sets the value at a path, or removes it if the value is undefined. */
export function setValue(text: string, path: Path, value: unknown): string {
  return edit(text, (document) => {
    if (value === undefined) {
      document.deleteIn(path);
      return;
    }
    // An empty value, such as `with:`, cannot hold keys.
    for (let length = 1; length < path.length; length += 1) {
      const parent: unknown = document.getIn(path.slice(0, length), true);
      if (isScalar(parent) || isAlias(parent)) document.deleteIn(path.slice(0, length));
      // An empty object is in flow style only because it has no keys.
      if (isMap(parent) && parent.items.length === 0) parent.flow = false;
    }
    assign(document, path, value);
  });
}

/** Equal parts keep their comments and style. */
function assign(document: Document, path: Path, value: unknown): void {
  const node: unknown = document.getIn(path, true);
  if (isScalar(node) && isPlain(value)) {
    node.value = value;
  } else if (isMap(node) && isJsonObject(value)) {
    if (node.items.length === 0) node.flow = false;
    const keys = node.items.map(({ key }) => (isScalar(key) ? String(key.value) : String(key)));
    for (const key of keys) if (!Object.hasOwn(value, key)) node.delete(key);
    for (const [key, item] of Object.entries(value)) assign(document, [...path, key], item);
    // A renamed key was added last.
    const order = new Map(Object.keys(value).map((key, index) => [key, index]));
    const placeOf = (key: unknown) => order.get(isScalar(key) ? String(key.value) : String(key)) ?? 0;
    node.items.sort((a, b) => placeOf(a.key) - placeOf(b.key));
  } else if (isSeq(node) && Array.isArray(value)) {
    node.items.length = Math.min(node.items.length, value.length);
    for (const [index, item] of value.entries()) assign(document, [...path, index], item);
  } else {
    document.setIn(path, document.createNode(value));
  }
}

/** Inserts a step before the one at `index`, or last. */
export function insertStep(text: string, index: number, step: object): string {
  return edit(text, (document) => {
    const node = document.createNode(step);
    const steps = document.get("steps");
    if (isSeq(steps)) steps.items.splice(index, 0, node);
    else document.set("steps", document.createNode([node]));
  });
}

/** The text without a step, and a way to put that step back into a later text. */
export function removeStep(
  text: string,
  index: number,
): { text: string; restore: (later: string) => string } {
  let removed: unknown[] = [];
  const rest = editSteps(text, (steps) => {
    removed = steps.splice(index, 1);
  });
  const restore = (later: string) => editSteps(later, (steps) => steps.splice(index, 0, ...removed));
  return { text: rest, restore };
}

/** Moves a step to another position. Its comments move with it. */
export function moveStep(text: string, from: number, to: number): string {
  return editSteps(text, (steps) => {
    if (to >= 0 && to < steps.length) steps.splice(to, 0, ...steps.splice(from, 1));
  });
}

function editSteps(text: string, change: (steps: unknown[]) => void): string {
  return edit(text, (document) => {
    const steps = document.get("steps");
    if (isSeq(steps)) change(steps.items);
  });
}

/** An id that no step has: the function's name, with a number if it is taken. */
export function freeStepId(text: string, wanted: string): string {
  const taken = new Set(readTool(text)?.steps.flatMap((step) => [step.id, ...innerIdsOf(step)]));
  if (!taken.has(wanted)) return wanted;
  let number = 2;
  while (taken.has(`${wanted}_${number}`)) number += 1;
  return `${wanted}_${number}`;
}

/** Changes a text. One with syntax errors stays as it is, and so does one whose aliases would lose their anchor. */
export function edit(text: string, change: (document: Document) => void): string {
  const document = parse(text, new LineCounter());
  if (document === null || !(document.contents === null || isMap(document.contents))) return text;
  change(document);
  try {
    return document.toString({ lineWidth: 0 });
  } catch {
    return text;
  }
}

function parse(text: string, lineCounter: LineCounter): Document | null {
  const document: Document = parseDocument(text, {
    lineCounter,
    stringKeys: true,
    logLevel: "error",
    customTags: keepDigits,
  });
  return document.errors.length > 0 ? null : document;
}

/** Keeps the digits of all numbers. The document must not be used to write afterwards. */
function toRecord(document: Document, text: string): Record<string, unknown> | null {
  try {
    const mayBeExact = MAY_BE_EXACT.test(text);
    if (mayBeExact) visit(document, { Scalar: (_, node) => markNumber(node) });
    const plain: unknown = document.toJS({ maxAliasCount: MAX_ALIASES });
    const value = mayBeExact ? readJson(unmarkExact(JSON.stringify(plain))) : plain;
    return isJsonObject(value) ? value : null;
  } catch {
    return null;
  }
}

function markNumber(node: Scalar): void {
  const { value, source = "" } = node;
  if (
    typeof value === "number" &&
    MAY_BE_EXACT.test(source) &&
    /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:e[+-]?\d+)?$/i.test(source)
  )
    node.value = EXACT_MARK + source;
}

const isPlain = (value: unknown) => typeof value !== "object" || value === null;
