import { Compartment, EditorState, Transaction } from "@codemirror/state";
import { EditorView, placeholder } from "@codemirror/view";
import type { Completions, EditorProblem, Language } from "../language";
import { insertIntoJson } from "../text/insert";
import { behaviorOf, gutterOf } from "./behavior";
import { completionOf } from "./complete";
import { decorationsOf, markLines } from "./decorations";
import { loadLanguage } from "./languages";
import { setProblems, showProblems } from "./problems";
import { highlighting, theme } from "./theme";

type Setup = {
  parent: HTMLElement;
  language: Language;
  isLine: boolean;
  value: string;
  selection: { anchor: number; head: number } | null;
  hasFocus: boolean;
  onChange: (value: string) => void;
  completions: () => Completions;
};

/** Settings that can change while it is shown. */
export type Shown = {
  value: string;
  attributes: Record<string, string>;
  placeholder: string;
  isDisabled: boolean;
  problems: readonly EditorProblem[];
  marked: readonly [from: number, to: number] | null;
};

/** Creates an editor. Its text is what was typed, or what `show` got last. */
export function createEditor(setup: Setup) {
  const { parent, language, isLine } = setup;
  const grammar = new Compartment();
  const gutters = new Compartment();
  const dynamic = new Compartment();
  // Reported texts that have not come back yet; they must not replace what was typed after them.
  const reported = new Set<string>();
  let given = normalize(setup.value);
  const report = EditorView.updateListener.of(({ docChanged, state, transactions }) => {
    if (!docChanged) return;
    if (hasGutters(state) !== isGuttered) {
      isGuttered = !isGuttered;
      queueMicrotask(() =>
        view.dispatch({ effects: gutters.reconfigure(isGuttered ? gutterOf(language) : []) }),
      );
    }
    if (transactions.every((transaction) => transaction.annotation(Transaction.remote))) return;
    const text = state.doc.toString();
    reported.add(text);
    setup.onChange(text);
  });
  const hasGutters = (state: EditorState) =>
    !isLine &&
    language !== "template" &&
    language !== "expression" &&
    (language === "yaml" || state.doc.lines > 1);
  const state = EditorState.create({
    doc: given,
    // As in a plain field of one line.
    selection: setup.selection ?? { anchor: isLine ? given.length : 0 },
    extensions: [
      EditorView.cspNonce.of(nonceOfPage()),
      theme,
      highlighting,
      grammar.of([]),
      gutters.of([]),
      dynamic.of([]),
      behaviorOf({ language, isLine }),
      decorationsOf(language, setup.completions),
      showProblems(language),
      completionOf(language, setup.completions),
      report,
    ],
  });
  const view = new EditorView({ state, parent });
  let isGuttered = hasGutters(state);
  if (isGuttered) view.dispatch({ effects: gutters.reconfigure(gutterOf(language)) });
  if (setup.hasFocus) view.focus();
  loadLanguage(language).then(
    (loaded) => view.dispatch({ effects: grammar.reconfigure(loaded) }),
    // It stays without colors.
    () => {},
  );
  let problems: readonly EditorProblem[] = [];
  let look = "";
  return {
    view,
    show({ value, attributes, placeholder: hint, isDisabled, marked, ...next }: Shown): void {
      const text = normalize(value);
      const current = view.state.doc.toString();
      if (text === current) reported.clear();
      else if (text !== given && !reported.has(text)) replace(view, text);
      given = text;
      const nextLook = JSON.stringify([attributes, hint, isDisabled, marked]);
      if (nextLook !== look) {
        look = nextLook;
        const extensions = [
          EditorView.contentAttributes.of(attributes),
          hint === "" ? [] : placeholder(hint),
          isDisabled ? [EditorView.editable.of(false), EditorState.readOnly.of(true)] : [],
          marked === null ? [] : markLines(marked),
        ];
        view.dispatch({ effects: dynamic.reconfigure(extensions) });
      }
      if (JSON.stringify(next.problems) !== JSON.stringify(problems)) {
        problems = next.problems;
        view.dispatch({ effects: setProblems.of(problems) });
      }
    },
    insert(text: string): void {
      const how = { scrollIntoView: true, userEvent: "input" };
      const { doc, selection } = view.state;
      if (language === "json") {
        const { cursor, ...changes } = insertIntoJson(doc.toString(), selection.main, text);
        view.dispatch({ changes, selection: { anchor: cursor }, ...how });
      } else {
        view.dispatch(view.state.replaceSelection(text), how);
      }
    },
    showLine(number: number | null): void {
      view.focus();
      if (number === null || number > view.state.doc.lines) return;
      const { from, to } = view.state.doc.line(number);
      view.dispatch({
        selection: { anchor: from, head: to },
        effects: EditorView.scrollIntoView(from, { y: "nearest" }),
      });
    },
  };
}

export type Editor = ReturnType<typeof createEditor>;

/** Replaces only what differs, so that the cursor stays. */
function replace(view: EditorView, text: string): void {
  const current = view.state.doc.toString();
  const most = Math.min(current.length, text.length);
  let from = 0;
  while (from < most && current[from] === text[from]) from += 1;
  let same = 0;
  while (same < most - from && current.at(-1 - same) === text.at(-1 - same)) same += 1;
  view.dispatch({
    changes: { from, to: current.length - same, insert: text.slice(from, text.length - same) },
    annotations: Transaction.remote.of(true),
  });
}

const normalize = (text: string) => text.replace(/\r\n?/g, "\n");

/** Style elements need the nonce of the loaded page. */
const nonceOfPage = () => document.querySelector<HTMLScriptElement>("script[nonce]")?.nonce ?? "";
