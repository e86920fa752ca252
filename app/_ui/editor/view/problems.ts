import { syntaxTree } from "@codemirror/language";
import { type Diagnostic, linter } from "@codemirror/lint";
import { type EditorState, type Extension, StateEffect, StateField } from "@codemirror/state";
import type { EditorProblem, Language } from "../language";
import type { Path } from "../text/position";

/** Replaces the problems that are known from outside. */
export const setProblems = StateEffect.define<readonly EditorProblem[]>();

const known = StateField.define<readonly Diagnostic[]>({
  create: () => [],
  update(diagnostics, { effects, changes, docChanged, state }) {
    for (const effect of effects) {
      if (effect.is(setProblems)) return effect.value.flatMap((problem) => placeOf(problem, state) ?? []);
    }
    if (!docChanged) return diagnostics;
    return diagnostics.map((each) => ({
      ...each,
      from: changes.mapPos(each.from, 1),
      to: Math.max(changes.mapPos(each.from, 1), changes.mapPos(each.to, -1)),
    }));
  },
});

/** Underlines the problems that `setProblems` sets, and syntax errors of JSON. */
export function showProblems(language: Language): Extension {
  return [
    known,
    linter(({ state }) => [...state.field(known), ...(language === "json" ? syntaxErrors(state) : [])], {
      delay: 250,
      needsRefresh: ({ transactions }) =>
        transactions.some(({ effects }) => effects.some((effect) => effect.is(setProblems))),
    }),
  ];
}

/** A text that is no object or list may be an expression. */
function syntaxErrors(state: EditorState): Diagnostic[] {
  const text = state.doc.toString();
  if (!/^\s*(?:\{(?!\{)|\[)/.test(text)) return [];
  let first: Diagnostic | null = null;
  syntaxTree(state).iterate({
    enter({ type, from, to }) {
      if (!type.isError || first !== null) return;
      // A missing sign is shown at what comes before it.
      const end = from === to ? text.slice(0, from).trimEnd().length : to;
      const start = from === to ? Math.max(0, end - 1) : from;
      first = { from: start, to: end, severity: "error", message: "This is not valid JSON here." };
    },
  });
  return first === null ? [] : [first];
}

function placeOf({ message, line = null, path = [] }: EditorProblem, state: EditorState): Diagnostic | null {
  const range =
    line === null ? (valueAt(state, path) ?? firstLine(state)) : keyInLine(state, line, path.at(-1));
  return range && { ...range, severity: "error", message };
}

type Range = { from: number; to: number };
type SyntaxNode = ReturnType<typeof syntaxTree>["topNode"];

function firstLine({ doc }: EditorState): Range | null {
  const from = doc.toString().search(/\S/);
  return from === -1 ? null : { from, to: doc.lineAt(from).to };
}

function keyInLine(state: EditorState, number: number, key: string | number | undefined): Range | null {
  if (number < 1 || number > state.doc.lines) return null;
  const { from, to, text } = state.doc.line(number);
  const begin = from + text.search(/\S|$/);
  const end = from + text.trimEnd().length;
  const found =
    typeof key === "string" ? new RegExp(`(?:^|[\\s{,])${quoteForRegExp(key)}:\\s+`).exec(text) : null;
  const value = found && from + found.index + found[0].length;
  return value !== null && value < end
    ? { from: value, to: end }
    : { from: begin, to: Math.max(end, Math.min(begin + 1, to)) };
}

const quoteForRegExp = (text: string) => text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");

function valueAt(state: EditorState, path: Path): Range | null {
  let node: SyntaxNode | null = syntaxTree(state).topNode.firstChild;
  for (const key of path) {
    const next: SyntaxNode | null = node && memberOf(node, { key, state });
    if (next === null) break;
    node = next;
  }
  return node && node.to > node.from
    ? { from: node.from, to: Math.min(node.to, state.doc.lineAt(node.from).to) }
    : null;
}

function memberOf(
  node: SyntaxNode,
  { key, state }: { key: string | number; state: EditorState },
): SyntaxNode | null {
  if (node.name === "Array") return elementsOf(node)[Number(key)] ?? null;
  for (const property of node.getChildren("Property")) {
    const name = property.getChild("PropertyName");
    if (name && state.sliceDoc(name.from, name.to) === JSON.stringify(String(key))) return property.lastChild;
  }
  return null;
}

function elementsOf(list: SyntaxNode): SyntaxNode[] {
  const elements = [];
  for (let child = list.firstChild; child; child = child.nextSibling)
    if (!/^[[\],]$/.test(child.name)) elements.push(child);
  return elements;
}
