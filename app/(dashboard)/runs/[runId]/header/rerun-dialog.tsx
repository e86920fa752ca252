"use client";

import { type FormEvent, useEffect, useRef, useState } from "react";
import { Button } from "@/app/_ui/button";
import { Dialog, DialogActions } from "@/app/_ui/dialog";
import { compactJson, readableText } from "@/app/_ui/json/spacing";
import type { ShownError } from "@/app/_ui/query-client";
import { usePayload } from "@/app/_ui/text/use-payload";
import type { RunDetail } from "@/server/runs/read/inspect";

/**
 * A dialog to edit a run's input and start a run with it. The draft is null before the first change. The caller stores
 * it, so that closing the dialog does not lose it.
 */
export function RerunDialog({
  run,
  busy,
  draft,
  problem,
  onDraft,
  onStart,
  onClose,
}: {
  run: RunDetail;
  busy: boolean;
  draft: string | null;
  /** Why the last attempt was refused. */
  problem: ShownError | null;
  onDraft: (text: string | null) => void;
  /** Undefined: the unchanged input. */
  onStart: (input: string | undefined) => void;
  onClose: () => void;
}) {
  const original = usePayload(run.input, `/api/runs/${run.id}/text?field=input`);
  const latest = useRef(original.load);
  useEffect(() => latest.current(), []);
  const [fault, setFault] = useState<string | null>(null);
  const [isRestored, setRestored] = useState(draft !== null);
  const isTool = run.kind === "tool";
  const own = original.cut ? "" : isTool ? readableText(original.text) : original.text;
  const input = draft ?? own;
  const isChanged = draft !== null && draft !== own;

  function submit(event: FormEvent) {
    event.preventDefault();
    const wrong = isTool ? faultOf(input) : null;
    setFault(wrong);
    if (wrong) return;
    if (!isChanged) onStart(undefined);
    // Indentation must not count against the size limit.
    else onStart(isTool ? compactJson(input) : input);
  }

  function startOver() {
    onDraft(null);
    setRestored(false);
    setFault(null);
  }

  return (
    <Dialog onOpenChange={(open) => !open && onClose()} open title={`Run ${run.targetName} again`} wide>
      <form className="flex min-h-0 flex-col gap-3" onSubmit={submit}>
        <div className="flex min-h-8 flex-wrap items-center gap-x-3">
          <label className="font-medium" htmlFor="rerun-input">
            {isTool ? "Input, a JSON object" : "Message"}
          </label>
          {isChanged && isRestored ? <span className="text-muted">as you last edited it</span> : null}
          {isChanged ? (
            <Button className="ml-auto" look="quiet" onClick={startOver}>
              Reset to the run's input
            </Button>
          ) : null}
        </div>
        {original.failed ? (
          <p className="text-failed">The input could not be read. Close this dialog and try again.</p>
        ) : null}
        <textarea
          aria-describedby="rerun-problem"
          aria-invalid={fault !== null || problem !== null}
          className="mono h-64 resize-y rounded-md border border-input-line bg-canvas p-2.5"
          id="rerun-input"
          disabled={original.cut}
          onChange={(event) => onDraft(event.target.value)}
          placeholder={original.loading ? "Loading the input" : undefined}
          spellCheck={!isTool}
          value={input}
        />
        <div aria-live="polite" className="text-failed" id="rerun-problem">
          {fault ? <p>{fault}</p> : problem ? <Problem problem={problem} /> : null}
        </div>
        <DialogActions>
          <Button onClick={onClose}>Close</Button>
          <Button disabled={busy || original.cut} look="primary" type="submit">
            {busy ? "Starting" : "Run"}
          </Button>
        </DialogActions>
      </form>
    </Dialog>
  );
}

/** Why the input was refused, and where its faults are. */
function Problem({ problem: { message, issues } }: { problem: ShownError }) {
  return (
    <>
      <p>{message}</p>
      {issues.length > 0 ? (
        <ul className="mt-1 flex max-h-40 flex-col gap-0.5 overflow-y-auto">
          {issues.map((issue) => (
            <li className="[overflow-wrap:anywhere]" key={`${issue.path} ${issue.message}`}>
              {issue.path === "" ? "The input" : <span className="mono">{issue.path}</span>} {issue.message}
            </li>
          ))}
        </ul>
      ) : null}
    </>
  );
}

/** Why a text is not a JSON object; null if it is one. */
function faultOf(text: string): string | null {
  try {
    const value: unknown = JSON.parse(text);
    const isObject = typeof value === "object" && value !== null && !Array.isArray(value);
    return isObject ? null : "The input of a tool must be a JSON object.";
  } catch (error) {
    return `This is not valid JSON: ${error instanceof Error ? error.message : ""}`;
  }
}
