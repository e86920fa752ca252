"use client";

import { useMutation } from "@tanstack/react-query";
import dynamic from "next/dynamic";
import { useId, useRef, useState } from "react";
import { useTRPC } from "@/app/_ui/data/providers";
import { describeError } from "@/app/_ui/data/query-client";
import { useMay } from "@/app/_ui/role";
import { FollowedRun } from "./followed-run";
import { MessageField } from "./message-field";
import { RunForm, type RunTarget, type StartFormProps } from "./run-form";

// The second click of a double click does not start another run.
const DOUBLE_CLICK_MS = 500;

/** Has no fallback: the server would send it first, and the form would displace it. */
const InputForm = dynamic(() => import("./input-form").then((part) => part.InputForm));

/** Starts a run of an agent or tool and follows it, beside its input. */
export function RunPanel({ target }: { target: RunTarget }) {
  const mayRun = useMay("member");
  const [runId, setRunId] = useState<string | null>(null);
  const startedAt = useRef(Number.NEGATIVE_INFINITY);
  const trpc = useTRPC();
  const start = useMutation(
    trpc.runs.start.mutationOptions({ onSuccess: (started) => setRunId(started.runId) }),
  );
  if (!mayRun || !target.active) {
    return (
      <p className="border-line border-t bg-surface px-4 py-3 text-muted sm:px-6">
        {mayRun
          ? `This ${target.kind} is inactive. Set it to active to run it.`
          : "Your role may read runs. Starting one needs the role Member."}
      </p>
    );
  }
  const props = {
    target,
    busy: start.isPending,
    problem: start.isError ? describeError(start.error) : null,
    onRun(input: string) {
      if (performance.now() - startedAt.current < DOUBLE_CLICK_MS) return;
      startedAt.current = performance.now();
      start.mutate({ kind: target.kind, id: target.id, input });
    },
  };
  return (
    <section
      aria-label={`Run ${target.name}`}
      className="grid border-line border-t lg:grid-cols-[minmax(0,27rem)_minmax(0,1fr)]"
    >
      <div className="bg-surface px-4 py-4 sm:px-6 lg:border-line lg:border-r">
        {target.kind === "agent" ? (
          <MessageForm {...props} />
        ) : (
          // Its fields are those of the parameters, which another version may change.
          <InputForm key={target.parameters} {...props} />
        )}
      </div>
      <div className="min-w-0 px-4 py-4 max-lg:border-line max-lg:border-t sm:px-6">
        {runId === null ? (
          <p className="text-muted">The run appears here, step by step, while it executes.</p>
        ) : (
          <FollowedRun runId={runId} />
        )}
      </div>
    </section>
  );
}

function MessageForm(props: StartFormProps) {
  const { target, busy, onRun } = props;
  const [message, setMessage] = useState("");
  const problemId = useId();
  const field = useRef<HTMLTextAreaElement>(null);
  function submit() {
    if (message.trim() === "") field.current?.focus();
    else if (!busy) onRun(message);
  }
  return (
    <RunForm {...props} onSubmit={submit} problemId={problemId}>
      <MessageField
        agentId={target.id}
        onChange={setMessage}
        placeholder={`Ask ${target.name} something`}
        problemId={problemId}
        ref={field}
        value={message}
      />
    </RunForm>
  );
}
