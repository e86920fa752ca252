import { useId, useState } from "react";
import { CodeEditor } from "@/app/_ui/editor/code-editor";
import { inputProblems, readJsonObject } from "@/app/_ui/editor/input-problem";
import { schemasAt } from "@/app/_ui/editor/text/schema";
import { Segments } from "@/app/_ui/segments";
import { readJson, writeJson } from "@/server/base/json/json";
import { readSchema } from "../_schema/field";
import { controlOf, sampleOf } from "../_schema/value";
import { RecentInputs } from "./recent-inputs";
import { RunForm, type StartFormProps } from "./run-form";
import { SchemaForm } from "./schema-form";

/** The input of a tool: a form by its parameters, or JSON. Both edit the same value. */
export function InputForm({ target, busy, problem, onRun }: StartFormProps) {
  const problemId = useId();
  const [schema] = useState<unknown>(() => readJson(target.parameters ?? "{}"));
  const [field] = useState(() => readSchema(schema));
  const [value, setValue] = useState<unknown>(() => sampleOf(field) ?? {});
  const [text, setText] = useState<string | null>(null);
  const [issue, setIssue] = useState<string | null>(null);
  const hasForm = controlOf(field) === "object";
  const view = text !== null || !hasForm ? "json" : "form";
  const json = text ?? writeJson(value, 2);
  function read() {
    const parsed = readJsonObject(json);
    setIssue(parsed.issue);
    return parsed.value;
  }
  function show(next: "form" | "json") {
    if (next === "json") return setText(writeJson(value, 2));
    const parsed = read();
    if (parsed === null) return;
    setValue(parsed);
    setText(null);
  }
  function submit() {
    const input = view === "json" ? read() : value;
    if (input !== null && !busy) onRun(writeJson(input));
  }
  return (
    <RunForm busy={busy} onSubmit={submit} problem={issue ?? problem} problemId={problemId} target={target}>
      <div className="flex min-h-7 items-center gap-2">
        <h2 className="mr-auto font-semibold">Input</h2>
        <RecentInputs
          of={target}
          onPick={(input) => {
            setText(input);
            setIssue(null);
          }}
        />
        {hasForm ? (
          <Segments
            label="Edit the input as"
            onChange={show}
            options={[
              { value: "form", label: "Form" },
              { value: "json", label: "JSON" },
            ]}
            value={view}
          />
        ) : null}
      </div>
      {view === "form" ? (
        <SchemaForm field={field} onChange={setValue} value={value} />
      ) : (
        <CodeEditor
          aria-describedby={problemId}
          aria-invalid={issue !== null}
          aria-label="Input as JSON"
          completions={{ schemaAt: (path) => ({ anyOf: schemasAt(schema, path) }) }}
          language="json"
          look="block"
          onChange={setText}
          problems={inputProblems(problem)}
          value={json}
        />
      )}
    </RunForm>
  );
}
