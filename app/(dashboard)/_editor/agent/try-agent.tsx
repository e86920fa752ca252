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
import { type Editor, useTried } from "@/app/(dashboard)/_editor/use-editor";
import { FollowedRun } from "@/app/(dashboard)/_run/followed-run";
import { InputProblem } from "@/app/(dashboard)/_run/problem";
import { RecentInputs } from "@/app/(dashboard)/_run/recent-inputs";
import { AGENT_LABELS, type AgentFields, toDefinition } from "./agent-fields";

/**
 * Runs the draft with a message, beside the form, and the same message on the saved version to compare with. A new agent
 * is created first.
 */
export function TryAgent({ editor }: { editor: Editor<AgentFields> }) {
  const id = useId();
  const client = useTRPCClient();
  const field = useRef<HTMLTextAreaElement>(null);
  const { opened } = editor;
  const maxCredits = editor.draft.value.maxCredits;
  const first = useTried("agent", opened);
  const [message, setMessage] = useState(first?.input ?? "");
  const startCurrent = (agentId: string, input: string) =>
    client.runs.start.mutate({ kind: "agent", id: agentId, input });
  const draft = useMutation({
    mutationFn: ({ agentId, text }: { agentId: string; text: string }) =>
      client.runs.tryAgent.mutate({
        agentId,
        definition: toDefinition(editor.draft.latest().value),
        message: text,
      }),
  });
  const current = useMutation({
    mutationFn: ({ agentId, text }: { agentId: string; text: string }) => startCurrent(agentId, text),
  });
  const isBusy = draft.isPending || editor.busy;
  function run() {
    if (message.trim() === "") {
      field.current?.focus();
      field.current?.reportValidity();
      return;
    }
    if (isBusy) return;
    if (opened === null) {
      editor.createAndRun({ input: message, start: (agentId) => startCurrent(agentId, message) });
      return;
    }
    current.reset();
    draft.mutate({ agentId: opened.id, text: message });
  }
  function onKeyDown(event: KeyboardEvent) {
    if (event.key !== "Enter" || !(event.metaKey || event.ctrlKey)) return;
    event.preventDefault();
    run();
  }
  const tried = draft.data && draft.variables;
  const runId = draft.data?.runId ?? first?.runId;
  const version = opened?.version;
  return (
    <section aria-label="Try the draft" className="flex min-w-0 flex-col gap-4">
      <div>
        <h2 className="font-semibold">Try the draft</h2>
        <p className="text-muted">
          {opened === null ? "The agent is created first, then it runs." : "It need not be saved."} A try
          costs what a run costs, and calls what a run calls.
        </p>
      </div>
      <div className="flex flex-col gap-2">
        <div className="flex min-h-7 items-center justify-between">
          <label className="font-medium" htmlFor={id}>
            Message
          </label>
          {opened === null ? null : (
            <RecentInputs of={{ kind: "agent", id: opened.id }} onPick={setMessage} />
          )}
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
          <Button disabled={isBusy} onClick={run}>
            <PlayIcon />
            {isBusy ? "Starting" : opened === null ? "Create and run" : "Run draft"}
          </Button>
          <span className="text-muted">
            {maxCredits && /^[\d.]+$/.test(maxCredits)
              ? `At most ${formatCredits(maxCredits)} credits`
              : "No cap on credits"}
          </span>
        </div>
      </div>
      <div aria-live="polite" className="flex flex-col gap-4">
        {runId ? <FollowedRun runId={runId} /> : null}
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
