import { type FormEvent, useEffect, useRef, useState } from "react";
import { Button } from "@/app/_ui/button";
import type { ShownError } from "@/app/_ui/data/query-client";
import { Dialog, DialogActions } from "@/app/_ui/dialog";
import { compactJson, readableText } from "@/app/_ui/json/spacing";
import { usePayload } from "@/app/_ui/text/use-payload";
import type { RunDetail } from "@/server/runs/read/inspect/inspect";
import { InputProblem, readJsonObject } from "../../../_run/problem";

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
    const read = isTool ? readJsonObject(input) : null;
    const wrong = read !== null && "fault" in read ? read.fault : null;
    setFault(wrong);
    if (wrong !== null) return;
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
    <Dialog onClose={onClose} title={`Run ${run.targetName} again`} wide>
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
        <InputProblem id="rerun-problem" problem={fault ?? problem} />
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
