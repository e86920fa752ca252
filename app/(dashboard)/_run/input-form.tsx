import { type FormEvent, useId, useRef, useState } from "react";
import { PlayIcon } from "@/app/_ui/icons";
import { usePageActions } from "@/app/_ui/page/page-actions";
import { Segments } from "@/app/_ui/segments";
import { InputProblem, readJsonObject } from "./problem";
import { RecentInputs } from "./recent-inputs";
import { type FormProps, RunButton, submitOnEnter } from "./run-form";
import { SchemaForm } from "./schema-form";
import { readField, sampleOf } from "./schema-value";

/** The input of a tool: a form by its parameters, or JSON. Both edit the same value. */
export function InputForm({ target, busy, problem, onRun }: FormProps) {
  const id = useId();
  const [schema] = useState<unknown>(() => JSON.parse(target.parameters ?? "{}"));
  const [value, setValue] = useState<unknown>(() => sampleOf(schema) ?? {});
  const [text, setText] = useState<string | null>(null);
  const [fault, setFault] = useState<string | null>(null);
  const form = useRef<HTMLFormElement>(null);
  const hasForm = readField(schema).kind === "object";
  const view = text !== null || !hasForm ? "json" : "form";
  const json = text ?? JSON.stringify(value, null, 2);
  usePageActions([
    {
      label: `Run ${target.name}`,
      icon: <PlayIcon />,
      run: () => form.current?.querySelector<HTMLElement>("input, textarea, select")?.focus(),
    },
  ]);
  /** The value of the JSON view; undefined if it is not a JSON object. */
  function read(): Record<string, unknown> | undefined {
    const parsed = readJsonObject(json);
    setFault("fault" in parsed ? parsed.fault : null);
    return "fault" in parsed ? undefined : parsed.value;
  }
  function show(next: "form" | "json") {
    if (next === "json") return setText(JSON.stringify(value, null, 2));
    const parsed = read();
    if (parsed === undefined) return;
    setValue(parsed);
    setText(null);
  }
  function submit(event: FormEvent) {
    event.preventDefault();
    const input = view === "json" ? read() : value;
    if (input !== undefined && !busy) onRun(JSON.stringify(input));
  }
  return (
    <form className="flex flex-col gap-3" onKeyDown={submitOnEnter} onSubmit={submit} ref={form}>
      <div className="flex min-h-7 items-center gap-2">
        <h2 className="font-semibold">Input</h2>
        <span className="ml-auto flex items-center gap-2">
          <RecentInputs
            of={target}
            onPick={(input) => {
              setText(input);
              setFault(null);
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
        </span>
      </div>
      {view === "form" ? (
        <SchemaForm onChange={setValue} schema={schema} value={value} />
      ) : (
        <textarea
          aria-describedby={`${id}-problem`}
          aria-label="Input as JSON"
          className="mono min-h-40 w-full resize-y rounded-md border border-input-line bg-canvas p-2.5"
          onChange={(event) => setText(event.target.value)}
          spellCheck={false}
          value={json}
        />
      )}
      <InputProblem id={`${id}-problem`} problem={fault ?? problem} />
      <RunButton busy={busy} target={target} />
    </form>
  );
}
