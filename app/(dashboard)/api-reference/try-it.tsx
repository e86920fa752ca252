"use client";

import { type FormEvent, useId, useState } from "react";
import { Button } from "@/app/_ui/button";
import { CopyTextButton } from "@/app/_ui/copy-button";
import { useBrowserValue } from "@/app/_ui/data/store";
import { CodeField } from "@/app/_ui/editor/code-field";
import { formatDuration } from "@/app/_ui/figures/format";
import { TextField } from "@/app/_ui/forms/form";
import { Command } from "@/app/_ui/page/page";
import { type Answer, commandOf, missingIn, send } from "./call";
import { useKey } from "./key";
import type { Operation } from "./read-document";

/** Ids of the organization, by the name of the path parameter that takes them; `example` is a body that fits one. */
export type KnownIds = Record<string, readonly { id: string; name: string; example?: string }[]>;

/** The call as a curl command and as a form that sends it with the pasted key. */
export function TryIt({ operation, ids }: { operation: Operation; ids: KnownIds }) {
  const key = useKey();
  const datalist = useId();
  const [values, setValues] = useState(() => firstValues(operation, ids));
  const [body, setBody] = useState(() => firstBody(operation, ids));
  const [problem, setProblem] = useState<string | null>(null);
  const [answer, setAnswer] = useState<Answer | null>(null);
  const [busy, setBusy] = useState(false);
  const origin = useBrowserValue(() => window.location.origin, "");
  const call = { operation, values, body };

  async function submit(event: FormEvent) {
    event.preventDefault();
    const missing = missingIn(call);
    if (missing.length > 0) return setProblem(`Fill in ${missing.join(", ")}.`);
    if (operation.keyed && key === "") return setProblem("Paste an API key at the top of the page.");
    setProblem(null);
    // Disables the button, so that neither a click nor Enter sends the call twice.
    setBusy(true);
    setAnswer(await send(call, key));
    setBusy(false);
  }

  const line = commandOf(call, origin);
  return (
    <form
      aria-label={`Try ${operation.summary}`}
      className="flex flex-col gap-3"
      noValidate
      onSubmit={(event) => void submit(event)}
    >
      <div className="flex items-center justify-between gap-2">
        <h3 className="font-medium">Try it</h3>
        <CopyTextButton label="Copy curl" text={line} />
      </div>
      <Command>{line}</Command>
      {operation.parameters.map(({ name, in: where, required }) => (
        <div key={name}>
          <TextField
            label={required ? name : `${name} (optional)`}
            list={where === "path" ? `${datalist}-${name}` : undefined}
            onChange={(text) => setValues((before) => ({ ...before, [name]: text }))}
            spellCheck={false}
            value={values[name] ?? ""}
          />
          {where === "path" ? (
            <datalist id={`${datalist}-${name}`}>
              {(ids[name] ?? []).map((known) => (
                <option key={known.id} value={known.id}>
                  {known.name}
                </option>
              ))}
            </datalist>
          ) : null}
        </div>
      ))}
      {operation.body ? <CodeField label="Body" language="json" onChange={setBody} value={body} /> : null}
      <p className="text-failed empty:hidden" role="alert">
        {problem}
      </p>
      <Button className="self-start" disabled={busy} type="submit">
        {busy ? "Sending" : "Send request"}
      </Button>
      <div aria-live="polite">{answer ? <AnswerView answer={answer} /> : null}</div>
    </form>
  );
}

function firstValues(operation: Operation, ids: KnownIds): Record<string, string> {
  return Object.fromEntries(operation.parameters.map(({ name }) => [name, ids[name]?.[0]?.id ?? ""]));
}

function firstBody({ method, body, parameters }: Operation, ids: KnownIds): string {
  if (body === null) return "";
  // The examples are inputs of starts and estimates.
  if (method !== "POST") return body.example;
  const fitting = parameters.map(({ name }) => ids[name]?.[0]?.example).find((each) => each !== undefined);
  return fitting ?? body.example;
}

function AnswerView({ answer }: { answer: Answer }) {
  if ("failure" in answer) return <p className="text-failed">{answer.failure}</p>;
  const { status, ok, durationMs, requestId, text } = answer;
  return (
    <section aria-label="Response" className="flex flex-col gap-1.5">
      <p>
        <span className={ok ? "font-medium text-completed" : "font-medium text-failed"}>{status}</span>{" "}
        <span className="text-muted">in {formatDuration(durationMs)}</span>
        {requestId ? <span className="mono text-muted text-xs"> · {requestId}</span> : null}
      </p>
      <Command>{text}</Command>
    </section>
  );
}
