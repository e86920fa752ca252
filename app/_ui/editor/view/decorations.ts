import type { Extension } from "@codemirror/state";
import { Decoration, type DecorationSet, EditorView, MatchDecorator, ViewPlugin } from "@codemirror/view";
import type { Completions, Language } from "../language";

function marks(regexp: RegExp, classOf: (match: RegExpExecArray) => string | null): Extension {
  const matcher = new MatchDecorator({
    regexp,
    decoration(match) {
      const name = classOf(match);
      return name === null ? null : Decoration.mark({ class: name });
    },
  });
  return ViewPlugin.define<{ decorations: DecorationSet; update: (update: ViewUpdateOf) => void }>(
    (view) => ({
      decorations: matcher.createDeco(view),
      update(update) {
        this.decorations = matcher.updateDeco(update, this.decorations);
      },
    }),
    { decorations: (plugin) => plugin.decorations },
  );
}

type ViewUpdateOf = Parameters<MatchDecorator["updateDeco"]>[0];

/** Expressions in `{{ }}`, and of prompts the Markdown and the names that it may mention. */
export function decorationsOf(language: Language, completions: () => Completions): Extension {
  if (language === "expression" || language === "javascript") return [];
  if (language !== "prompt") return marks(/\{\{.*?\}\}/g, () => "cm-template");
  return [
    marks(/^#{1,6} .*/g, () => "cm-heading"),
    marks(/\*\*[^*]+\*\*/g, () => "cm-strong"),
    marks(/^\s*(?:[-*]|\d+\.)(?= )/g, () => "cm-faint"),
    marks(/[A-Za-z][\w-]*/g, ([word]) =>
      completions().names?.some(({ name }) => name === word) ? "cm-name" : null,
    ),
  ];
}

/** Marks a range of lines, such as those of the selected step. */
export function markLines([from, to]: readonly [from: number, to: number]): Extension {
  return EditorView.decorations.compute(["doc"], (state) => {
    const last = Math.min(to, state.doc.lines);
    const lines = [];
    for (let line = Math.max(from, 1); line <= last; line += 1)
      lines.push(Decoration.line({ class: "cm-marked" }).range(state.doc.line(line).from));
    return Decoration.set(lines);
  });
}
