"use client";

import { useMutation } from "@tanstack/react-query";
import { type KeyboardEvent, useId, useRef, useState } from "react";
import { Button } from "@/app/_ui/button";
import { useTRPC, useTRPCClient } from "@/app/_ui/data/providers";
import { describeError } from "@/app/_ui/data/query-client";
import { formatCredits } from "@/app/_ui/figures/format";
import { listProblems } from "@/app/_ui/forms/form-problems";
import { PlayIcon } from "@/app/_ui/icons";
import { Link } from "@/app/_ui/link";
import { InputProblem } from "../../../_ui/editor/input-problem";
import { FollowedRun } from "../../_run/followed-run";
import { MessageField } from "../../_run/message-field";
import { TrySection } from "../editor-form";
import type { Editor } from "../use-editor";
import { type AgentFields, toDefinition } from "./agent-fields";

type TryAgentProps = { editor: Editor<AgentFields>; labels: Record<string, string> };

/** Runs the draft with a message, and the saved version with the same message to compare. Creates a new agent first. */
export function TryAgent({ editor, labels }: TryAgentProps) {
  const id = useId();
  const trpc = useTRPC();
  const client = useTRPCClient();
  const field = useRef<HTMLTextAreaElement>(null);
  const { opened } = editor;
  const { maxCredits } = editor.draft.value;
  const [message, setMessage] = useState(editor.tried?.input ?? "");
  const draft = useMutation(trpc.runs.tryAgent.mutationOptions());
  const current = useMutation(trpc.runs.start.mutationOptions());
  const isBusy = draft.isPending || editor.busy;
  function run() {
    if (message.trim() === "") {
      field.current?.focus();
      field.current?.reportValidity();
    } else if (opened === null) {
      editor.submit({
        input: message,
        start: (agentId) => client.runs.start.mutate({ kind: "agent", id: agentId, input: message }),
      });
    } else if (!isBusy) {
      current.reset();
      const definition = toDefinition(editor.draft.latest().value);
      draft.mutate({ agentId: opened.id, definition, message });
    }
  }
  function onKeyDown(event: KeyboardEvent) {
    if (event.key !== "Enter" || !(event.metaKey || event.ctrlKey)) return;
    event.preventDefault();
    run();
  }
  const runId = draft.data?.runId ?? editor.tried?.runId;
  const version = opened?.version;
  return (
    <TrySection editor={editor}>
      <div className="flex flex-col gap-2">
        <MessageField
          agentId={opened?.id ?? null}
          onChange={setMessage}
          onKeyDown={onKeyDown}
          placeholder="Ask the agent something"
          problemId={`${id}-problem`}
          ref={field}
          value={message}
        />
        <InputProblem
          id={`${id}-problem`}
          problem={draft.isError ? listProblems(draft.error, labels) : null}
        />
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
      <div className="flex flex-col gap-4">
        {runId ? <FollowedRun runId={runId} /> : null}
        {draft.data && !current.data ? (
          <div className="flex flex-col items-start gap-2">
            <Button
              disabled={current.isPending}
              look="quiet"
              onClick={() => {
                const { agentId, message: input } = draft.variables;
                current.mutate({ kind: "agent", id: agentId, input });
              }}
            >
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
    </TrySection>
  );
}
