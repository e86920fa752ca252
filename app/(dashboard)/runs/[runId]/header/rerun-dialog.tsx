import { useEffect, useEffectEvent, useState } from "react";
import { Button } from "@/app/_ui/button";
import { describeError } from "@/app/_ui/data/query-client";
import { FormDialog } from "@/app/_ui/forms/form-dialog";
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
  rerun,
  draft,
  onDraft,
  onStart,
  onClose,
}: {
  run: RunDetail;
  rerun: { isPending: boolean; error: unknown };
  draft: string | null;
  onDraft: (text: string | null) => void;
  /** Undefined: the unchanged input. */
  onStart: (input: string | undefined) => void;
  onClose: () => void;
}) {
  const original = usePayload(run.input, `/api/runs/${run.id}/text?field=input`);
  const load = useEffectEvent(original.load);
  useEffect(() => load(), []);
  const [fault, setFault] = useState<string | null>(null);
  const [isRestored, setRestored] = useState(draft !== null);
  const isTool = run.kind === "tool";
  const own = original.cut ? "" : isTool ? readableText(original.text) : original.text;
  const input = draft ?? own;
  const isChanged = draft !== null && draft !== own;
  const problem = fault ?? (rerun.error ? describeError(rerun.error) : null);

  function submit() {
    const read = isTool ? readJsonObject(input) : null;
    const wrong = read && "fault" in read ? read.fault : null;
    setFault(wrong);
    if (wrong !== null) return;
    // Indentation must not count against the size limit.
    const changed = isTool ? compactJson(input) : input;
    onStart(isChanged ? changed : undefined);
  }

  return (
    <FormDialog
      act="Run"
      acting="Starting"
      dismiss="Close"
      loading={original.cut}
      mutation={rerun}
      onClose={onClose}
      onSubmit={submit}
      problem={null}
      title={`Run ${run.targetName} again`}
      wide
    >
      <div className="flex flex-col gap-3">
        <div className="flex min-h-8 flex-wrap items-center gap-x-3">
          <label className="font-medium" htmlFor="rerun-input">
            {isTool ? "Input, a JSON object" : "Message"}
          </label>
          {isChanged && isRestored ? <span className="text-muted">as you last edited it</span> : null}
          {isChanged ? (
            <Button
              className="ml-auto"
              look="quiet"
              onClick={() => {
                onDraft(null);
                setRestored(false);
                setFault(null);
              }}
            >
              Reset to the run's input
            </Button>
          ) : null}
        </div>
        {original.failed ? (
          <p className="text-failed">The input could not be read. Close this dialog and try again.</p>
        ) : null}
        <textarea
          aria-describedby="rerun-problem"
          aria-invalid={problem !== null}
          className="mono h-64 resize-y rounded-md border border-input-line bg-canvas p-2.5"
          id="rerun-input"
          disabled={original.cut}
          onChange={(event) => onDraft(event.target.value)}
          placeholder={original.loading ? "Loading the input" : undefined}
          spellCheck={!isTool}
          value={input}
        />
        <InputProblem id="rerun-problem" problem={problem} />
      </div>
    </FormDialog>
  );
}
