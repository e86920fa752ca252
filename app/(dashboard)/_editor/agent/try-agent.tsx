"use client";

import { useMutation } from "@tanstack/react-query";
import { type KeyboardEvent, useId, useRef, useState } from "react";
import { Button } from "@/app/_ui/button";
import { useTRPCClient } from "@/app/_ui/data/providers";
import { describeError } from "@/app/_ui/data/query-client";
import { formatCredits } from "@/app/_ui/figures/format";
import { readProblems } from "@/app/_ui/forms/form-problems";
import { PlayIcon } from "@/app/_ui/icons";
import { Link } from "@/app/_ui/link";
import type { Opened } from "@/app/(dashboard)/_editor/use-editor";
import { FollowedRun } from "@/app/(dashboard)/_run/followed-run";
import { InputProblem } from "@/app/(dashboard)/_run/problem";
import { RecentInputs } from "@/app/(dashboard)/_run/recent-inputs";
import { AGENT_LABELS, type AgentFields, toDefinition } from "./agent-fields";

/** Runs the draft with a message, beside the form, and the same message on the saved version to compare with. */
export function TryAgent({
  agent: { id: agentId, version },
  maxCredits,
  latest,
}: {
  agent: NonNullable<Opened>;
  /** As it is typed. */
  maxCredits: string;
  /** The newest fields of the draft. */
  latest: () => AgentFields;
}) {
  const id = useId();
  const client = useTRPCClient();
  const field = useRef<HTMLTextAreaElement>(null);
  const [message, setMessage] = useState("");
  const draft = useMutation({
    mutationFn: (text: string) =>
      client.runs.tryAgent.mutate({ agentId, definition: toDefinition(latest()), message: text }),
  });
  const current = useMutation({
    mutationFn: (text: string) => client.runs.start.mutate({ kind: "agent", id: agentId, input: text }),
  });
  function run() {
    if (message.trim() === "") {
      field.current?.focus();
      field.current?.reportValidity();
      return;
    }
    if (draft.isPending) return;
    current.reset();
    draft.mutate(message);
  }
  function onKeyDown(event: KeyboardEvent) {
    if (event.key !== "Enter" || !(event.metaKey || event.ctrlKey)) return;
    event.preventDefault();
    run();
  }
  const tried = draft.data && draft.variables;
  return (
    <section aria-label="Try the draft" className="flex min-w-0 flex-col gap-4">
      <div>
        <h2 className="font-semibold">Try the draft</h2>
        <p className="text-muted">
          It need not be saved. A try costs what a run costs, and calls what a run calls.
        </p>
      </div>
      <div className="flex flex-col gap-2">
        <div className="flex min-h-7 items-center justify-between">
          <label className="font-medium" htmlFor={id}>
            Message
          </label>
          <RecentInputs of={{ kind: "agent", id: agentId }} onPick={setMessage} />
        </div>
        <textarea
          aria-describedby={`${id}-problem`}
          className="min-h-20 w-full resize-y rounded-md border border-input-line bg-canvas p-2.5"
          id={id}
          onChange={(event) => setMessage(event.target.value)}
          onKeyDown={onKeyDown}
          placeholder="Ask the agent something"
          ref={field}
          required
          value={message}
        />
        <InputProblem id={`${id}-problem`} problem={draft.isError ? listProblems(draft.error) : null} />
        <div className="flex flex-wrap items-center gap-3">
          <Button disabled={draft.isPending} onClick={run}>
            <PlayIcon />
            {draft.isPending ? "Starting" : "Run draft"}
          </Button>
          <span className="text-muted">
            {/^[\d.]+$/.test(maxCredits)
              ? `At most ${formatCredits(maxCredits)} credits`
              : "No cap on credits"}
          </span>
        </div>
      </div>
      <div aria-live="polite" className="flex flex-col gap-4">
        {draft.data ? <FollowedRun runId={draft.data.runId} /> : null}
        {tried && !current.data ? (
          <div className="flex flex-col items-start gap-2">
            <Button disabled={current.isPending} look="quiet" onClick={() => current.mutate(tried)}>
              {current.isPending ? "Starting" : `Run the same message on v${version}`}
            </Button>
            <InputProblem
              id={`${id}-current`}
              problem={current.isError ? describeError(current.error) : null}
            />
          </div>
        ) : null}
        {draft.data && current.data ? (
          <section aria-label={`Same message on v${version}`} className="border-line border-t pt-4">
            <div className="flex flex-wrap items-center justify-between gap-x-3">
              <h3 className="font-semibold">Same message on v{version}</h3>
              <Link
                className="text-accent hover:underline"
                href={`/runs/compare?a=${current.data.runId}&b=${draft.data.runId}`}
              >
                Compare the runs
              </Link>
            </div>
            <FollowedRun runId={current.data.runId} />
          </section>
        ) : null}
      </div>
    </section>
  );
}

/** What is wrong with the draft, as its form says it, or why it was not started. */
function listProblems(error: unknown): string {
  const problems = readProblems(error, AGENT_LABELS);
  return [...Object.keys(AGENT_LABELS).flatMap((field) => problems.at(field) ?? []), problems.rest ?? []]
    .flat()
    .join(" ");
}
