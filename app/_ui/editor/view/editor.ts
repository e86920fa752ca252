import { closeBrackets, closeBracketsKeymap } from "@codemirror/autocomplete";
import { defaultKeymap, history, historyKeymap, indentWithTab } from "@codemirror/commands";
import {
  bracketMatching,
  codeFolding,
  foldGutter,
  foldKeymap,
  indentOnInput,
  indentUnit,
} from "@codemirror/language";
import { lintGutter, lintKeymap } from "@codemirror/lint";
import { highlightSelectionMatches, search, searchKeymap } from "@codemirror/search";
import { Compartment, EditorState, type Extension, Transaction } from "@codemirror/state";
import {
  EditorView,
  highlightActiveLine,
  highlightActiveLineGutter,
  keymap,
  lineNumbers,
  placeholder,
} from "@codemirror/view";
import type { Completions, EditorProblem, Language } from "../language";
import { completionOf } from "./complete";
import { decorationsOf, markLines } from "./decorations";
import { loadLanguage } from "./languages";
import { problemsOf, setProblems } from "./problems";
import { highlighting, theme } from "./theme";

/** What an editor is created with. */
export type Setup = {
  parent: HTMLElement;
  language: Language;
  /** One line only; Enter does what it does in an input. */
  isLine: boolean;
  value: string;
  /** What the control before it had. */
  selection: { anchor: number; head: number } | null;
  hasFocus: boolean;
  onChange: (value: string) => void;
  completions: () => Completions;
};

/** What can change while it is shown. */
export type Shown = {
  value: string;
  /** Of the element with the text. */
  attributes: Record<string, string>;
  placeholder: string;
  isDisabled: boolean;
  problems: readonly EditorProblem[];
  marked: readonly [from: number, to: number] | null;
};

/** In these, Tab indents. */
const indents = (language: Language) => language === "yaml" || language === "javascript";

/** Creates an editor. Its text is what was typed, or what `show` got last. */
export function createEditor(setup: Setup) {
  const { parent, language, isLine } = setup;
  const grammar = new Compartment();
  const gutters = new Compartment();
  const dynamic = new Compartment();
  // What was reported and has not come back yet; it must not replace what was typed after it.
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
      EditorState.phrases.of(PHRASES),
      theme,
      highlighting,
      history(),
      grammar.of([]),
      gutters.of([]),
      dynamic.of([]),
      EditorView.lineWrapping,
      indentUnit.of("  "),
      EditorState.tabSize.of(2),
      language === "prompt" ? [] : [closeBrackets(), bracketMatching(), indentOnInput()],
      decorationsOf(language, setup.completions),
      problemsOf(language),
      completionOf(language, setup.completions),
      isLine
        ? ONE_LINE
        : [highlightSelectionMatches(), search({ top: true }), codeFolding(), highlightActiveLine()],
      leaving(language),
      keys(isLine, language),
      abovePageBar,
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
    /** Inserts a text in place of the selection, or in place of everything. */
    insert(text: string): void {
      view.dispatch(view.state.replaceSelection(text), { scrollIntoView: true, userEvent: "input" });
    },
    /** Selects a line, from 1, and moves the focus to it; null: only the focus. */
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

/** The style elements of editors need the nonce of the page that was loaded. */
const nonceOfPage = () => document.querySelector<HTMLScriptElement>("script[nonce]")?.nonce ?? "";

function gutterOf(language: Language): Extension {
  const fold = foldGutter({
    markerDOM(isOpen) {
      const marker = document.createElement("span");
      marker.className = isOpen ? "cm-fold" : "cm-fold cm-fold-closed";
      marker.title = isOpen ? "Fold" : "Unfold";
      return marker;
    },
  });
  return [lintGutter(), lineNumbers(), highlightActiveLineGutter(), language === "prompt" ? [] : fold];
}

/** The bar with Save covers the lower edge of a page. Margins of CodeMirror would also hide lists at that edge. */
const abovePageBar = EditorView.scrollHandler.of((view, { head }) => {
  view.requestMeasure({
    read: () => ({ place: view.coordsAtPos(head), bar: document.querySelector("[data-save-bar]") }),
    write({ place, bar }) {
      if (!place || !bar) return;
      const covered = place.bottom - bar.getBoundingClientRect().top;
      if (covered > 0 && place.bottom < window.innerHeight + 100) window.scrollBy(0, covered + 8);
    },
  });
  return false;
});

/** Pasted lines become one. */
const ONE_LINE = EditorState.transactionFilter.of((transaction) => {
  if (!transaction.docChanged || transaction.newDoc.lines === 1) return transaction;
  const text = transaction.newDoc.toString().replace(/\n+/g, " ");
  const anchor = Math.min(transaction.newSelection.main.head, text.length);
  return [
    transaction,
    {
      changes: { from: 0, to: transaction.newDoc.length, insert: text },
      selection: { anchor },
      sequential: true,
    },
  ];
});

/** Escape makes Tab leave the editor until it is focused again, whatever else Escape does. */
function leaving(language: Language): Extension {
  if (!indents(language)) return [];
  return EditorView.domEventObservers({
    keydown(event, view) {
      if (event.key === "Escape") view.setTabFocusMode(true);
    },
    blur: (_event, view) => view.setTabFocusMode(false),
  });
}

function keys(isLine: boolean, language: Language): Extension {
  // Enter with Control or Command submits the form around the editor.
  const editing = defaultKeymap.filter(({ key }) => key !== "Mod-Enter");
  const ofLines = [...searchKeymap, ...foldKeymap, ...(indents(language) ? [indentWithTab] : [])];
  return keymap.of([
    ...closeBracketsKeymap,
    ...lintKeymap,
    ...historyKeymap,
    ...(isLine ? [{ key: "Enter", run: () => true }] : ofLines),
    ...editing,
  ]);
}

const PHRASES = {
  Find: "Find",
  Replace: "Replace with",
  next: "Next",
  previous: "Previous",
  all: "All",
  "match case": "Match case",
  regexp: "Pattern",
  "by word": "Whole words",
  replace: "Replace",
  "replace all": "Replace all",
  close: "Close",
  "folded code": "Folded lines",
};
