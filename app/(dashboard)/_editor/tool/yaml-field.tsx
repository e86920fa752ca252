"use client";

import { type Ref, useRef } from "react";
import { CodeEditor, type EditorHandle } from "@/app/_ui/editor/code-editor";
import type { Completions } from "@/app/_ui/editor/language";
import { EXPRESSION_KEYS, scopeOf, takesSecretsAt, toolSchemaAt } from "./knowledge/tool-completions";
import { useToolKnowledge } from "./knowledge/use-tool-knowledge";
import type { ShownProblem } from "./problems/problem-sentence";
import type { ToolView } from "./tool-document";

type YamlFieldProps = {
  value: string;
  /** Null while the YAML has a syntax error. */
  tool: ToolView | null;
  problems: readonly ShownProblem[];
  marked?: readonly [from: number, to: number] | undefined;
  onChange: (value: string) => void;
  ref: Ref<EditorHandle>;
};

export function YamlField({ value, tool, problems, marked, onChange, ref }: YamlFieldProps) {
  const knowledge = useToolKnowledge();
  // A syntax error in the line that is being typed hides the steps.
  const last = useRef(tool);
  if (tool !== null) last.current = tool;
  const known = last.current;
  const completions: Completions = {
    schemaAt: (path) => toolSchemaAt(known, knowledge, path),
    scopeAt: (path) => {
      if (known === null) return undefined;
      const [part, step, inner, at] = path;
      const index = part === "steps" && typeof step === "number" ? step : known.steps.length;
      const member = inner === "parallel" && typeof at === "number" ? at : undefined;
      const takesSecrets = takesSecretsAt(known, knowledge, path);
      return scopeOf(known, knowledge, { index, member, takesSecrets });
    },
    expressionKeys: EXPRESSION_KEYS,
  };
  return (
    <CodeEditor
      aria-label="Definition as YAML"
      completions={completions}
      language="yaml"
      look="page"
      marked={marked}
      onChange={onChange}
      problems={problems.map(({ line, path, sentence }) => ({ line, path, message: sentence }))}
      ref={ref}
      value={value}
    />
  );
}
