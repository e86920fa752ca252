import type { Path } from "./text/position";

/** `template`: a text with `{{ }}`. `expression`: JSONata. `prompt`: Markdown that names functions and tools. */
export type Language = "yaml" | "json" | "javascript" | "expression" | "template" | "prompt";

/** A problem in a text: at a line from 1, at the value of a path, or at both. */
export type EditorProblem = { message: string; line?: number | null; path?: Path };

/** The completions of an editor, read when they are needed. */
export type Completions = {
  schemaAt?: (path: Path) => unknown;
  scopeAt?: (path: Path) => unknown;
  /** Their values are expressions without braces. */
  expressionKeys?: ReadonlySet<string>;
  names?: readonly { name: string; title: string }[];
};

/** In these, Tab indents. Escape, then Tab, leaves them. */
export const indents = (language: Language) => language === "yaml" || language === "javascript";
