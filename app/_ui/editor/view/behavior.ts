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
import { EditorState, type Extension } from "@codemirror/state";
import {
  EditorView,
  highlightActiveLine,
  highlightActiveLineGutter,
  keymap,
  lineNumbers,
} from "@codemirror/view";
import { indents, type Language } from "../language";

type Kind = { language: Language; isLine: boolean };

/** The behavior of all editors: undo, keys, brackets, finding and folding. */
export function behaviorOf({ language, isLine }: Kind): Extension {
  return [
    EditorState.phrases.of(PHRASES),
    history(),
    EditorView.lineWrapping,
    indentUnit.of("  "),
    EditorState.tabSize.of(2),
    language === "prompt" ? [] : [closeBrackets(), bracketMatching(), indentOnInput()],
    isLine ? ONE_LINE : [highlightSelectionMatches(), search({ top: true }), codeFolding()],
    leaving(language),
    keys({ language, isLine }),
    abovePageBar,
  ];
}

/** For several lines: problems, numbers and arrows beside them, and a mark of the current one. */
export function gutterOf(language: Language): Extension {
  const fold = foldGutter({
    markerDOM(isOpen) {
      const marker = document.createElement("span");
      marker.className = isOpen ? "cm-fold" : "cm-fold cm-fold-closed";
      marker.title = isOpen ? "Fold" : "Unfold";
      return marker;
    },
  });
  const current = [highlightActiveLine(), highlightActiveLineGutter()];
  return [lintGutter(), lineNumbers(), current, language === "prompt" ? [] : fold];
}

/** The bar with Save covers the lower edge. Margins of CodeMirror would also hide lists there. */
const abovePageBar = EditorView.scrollHandler.of((view, { head }) => {
  view.requestMeasure({
    read() {
      const [place, bar] = [view.coordsAtPos(head), document.querySelector("[data-save-bar]")];
      if (!place || !bar) return 0;
      // The editor itself scrolls to places outside its own box.
      const bottom = Math.min(place.bottom, view.dom.getBoundingClientRect().bottom);
      return bottom - bar.getBoundingClientRect().top;
    },
    write: (covered) => covered > 0 && window.scrollBy(0, covered + 8),
  });
  return false;
});

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

/** Escape makes Tab leave the editor until it is focused again. */
function leaving(language: Language): Extension {
  if (!indents(language)) return [];
  return EditorView.domEventObservers({
    keydown(event, view) {
      if (event.key === "Escape") view.setTabFocusMode(true);
    },
    blur: (_event, view) => view.setTabFocusMode(false),
  });
}

function keys({ language, isLine }: Kind): Extension {
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
