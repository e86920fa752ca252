"use client";

import { useMutation, useQuery } from "@tanstack/react-query";
import { type FormEvent, type KeyboardEvent, useId, useRef, useState } from "react";
import { Button } from "@/app/_ui/button";
import { formatCredits, NONE } from "@/app/_ui/format";
import { PlayIcon } from "@/app/_ui/icons";
import { usePageActions } from "@/app/_ui/page-actions";
import { useTRPC } from "@/app/_ui/providers";
import { describeError, type ShownError } from "@/app/_ui/query-client";
import { useMay } from "@/app/_ui/role";
import { Segments } from "@/app/_ui/segments";
import { weekQuery } from "../_definitions/query";
import { formatPerRun } from "../_definitions/week";
import { FollowedRun } from "./followed-run";
import { InputProblem, readJsonObject } from "./problem";
import { RecentInputs } from "./recent-inputs";
import { SchemaForm } from "./schema-form";
import { readField, sampleOf } from "./schema-value";

/** What a run panel starts. `parameters`: a tool's JSON Schema, as JSON. */
export type RunTarget = {
  kind: "agent" | "tool";
  id: string;
  name: string;
  maxCredits: string | null;
  active: boolean;
  parameters: string | null;
};

/** Starts a run of an agent or tool and follows it, beside its input. */
export function RunPanel({ target }: { target: RunTarget }) {
  const mayRun = useMay("member");
  const [runId, setRunId] = useState<string | null>(null);
  const trpc = useTRPC();
  const start = useMutation(
    trpc.runs.start.mutationOptions({ onSuccess: (started) => setRunId(started.runId) }),
  );
  const run = (input: string) => start.mutate({ kind: target.kind, id: target.id, input });
  if (!mayRun || !target.active) {
    return (
      <p className="border-line border-t bg-surface px-4 py-3 text-muted sm:px-6">
        {mayRun
          ? `This ${target.kind} is inactive. Set it to active to run it.`
          : "Your role may read runs. Starting one needs the role member."}
      </p>
    );
  }
  const props = {
    target,
    busy: start.isPending,
    problem: start.isError ? describeError(start.error) : null,
    onRun: run,
  };
  return (
    <section
      aria-label={`Run ${target.name}`}
      className="grid border-line border-t lg:grid-cols-[minmax(0,27rem)_minmax(0,1fr)]"
    >
      <div className="bg-surface px-4 py-4 sm:px-6 lg:border-line lg:border-r">
        {target.kind === "agent" ? <MessageForm {...props} /> : <InputForm {...props} />}
      </div>
      <div aria-live="polite" className="min-w-0 px-4 py-4 max-lg:border-line max-lg:border-t sm:px-6">
        {runId === null ? (
          <p className="text-muted">The run appears here, step by step, while it executes.</p>
        ) : (
          <FollowedRun runId={runId} />
        )}
      </div>
    </section>
  );
}

type FormProps = {
  target: RunTarget;
  busy: boolean;
  problem: ShownError | null;
  onRun: (input: string) => void;
};

function MessageForm({ target, busy, problem, onRun }: FormProps) {
  const [message, setMessage] = useState("");
  const id = useId();
  const field = useRef<HTMLTextAreaElement>(null);
  usePageActions([{ label: `Run ${target.name}`, icon: <PlayIcon />, run: () => field.current?.focus() }]);
  function submit(event: FormEvent) {
    event.preventDefault();
    if (message.trim() === "") field.current?.focus();
    else if (!busy) onRun(message);
  }
  return (
    <form className="flex flex-col gap-2" onKeyDown={submitOnEnter} onSubmit={submit}>
      <div className="flex min-h-7 items-center justify-between">
        <label className="font-medium" htmlFor={id}>
          Message
        </label>
        <RecentInputs of={target} onPick={setMessage} />
      </div>
      <textarea
        aria-describedby={`${id}-problem`}
        className="min-h-24 w-full resize-y rounded-md border border-input-line bg-canvas p-2.5"
        id={id}
        onChange={(event) => setMessage(event.target.value)}
        placeholder={`Ask ${target.name} something`}
        ref={field}
        value={message}
      />
      <InputProblem id={`${id}-problem`} problem={problem} />
      <RunButton busy={busy} target={target} />
    </form>
  );
}

/** The input of a tool: a form by its parameters, or JSON. Both edit the same value. */
function InputForm({ target, busy, problem, onRun }: FormProps) {
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

function RunButton({ busy, target }: { busy: boolean; target: RunTarget }) {
  const trpc = useTRPC();
  const week = useQuery(weekQuery(trpc, target));
  const usual = week.data ? formatPerRun(week.data.total) : NONE;
  return (
    <div className="flex flex-wrap items-center gap-3">
      <Button disabled={busy} look="primary" type="submit">
        <PlayIcon />
        {busy ? "Starting" : "Run"}
      </Button>
      <span className="text-muted">
        {target.maxCredits === null
          ? "No cap on credits"
          : `At most ${formatCredits(target.maxCredits)} credits`}
        {usual === NONE ? null : `, usually ${usual}`}
      </span>
    </div>
  );
}

/** Ctrl or Command with Enter submits. */
function submitOnEnter(event: KeyboardEvent<HTMLFormElement>) {
  if (event.key !== "Enter" || !(event.metaKey || event.ctrlKey)) return;
  event.preventDefault();
  event.currentTarget.requestSubmit();
}
