import { useRouter } from "next/navigation";
import { useEffect, useEffectEvent, useState } from "react";
import { Button } from "@/app/_ui/button";
import { useOrganizationAddress } from "@/app/_ui/data/page-organization";
import { useTRPC } from "@/app/_ui/data/providers";
import { describeError } from "@/app/_ui/data/query-client";
import { CodeEditor } from "@/app/_ui/editor/code-editor";
import { InputProblem, inputProblems, readJsonObject } from "@/app/_ui/editor/input-problem";
import { FormDialog } from "@/app/_ui/forms/form-dialog";
import { useForm } from "@/app/_ui/forms/use-form";
import { compactJson, readableText } from "@/app/_ui/json/spacing";
import { usePayload } from "@/app/_ui/text/use-payload";
import type { RunDetail } from "@/server/runs/read/inspect/inspect";

type RerunDialogProps = {
  run: RunDetail;
  typed: string | null;
  /** Gets the current text; null after a start. */
  onClose: (typed: string | null) => void;
};

export function RerunDialog({ run, typed, onClose }: RerunDialogProps) {
  const router = useRouter();
  const { dialog, draft, change, send } = useForm(useTRPC().runs.rerun.mutationOptions(), {
    draft: { input: typed, isRestored: typed !== null },
    done: ({ runId }) => {
      router.push(`/runs/${runId}`);
      return null;
    },
    onClose: () => onClose(null),
  });
  const addressOf = useOrganizationAddress();
  const original = usePayload(run.input, addressOf(`/api/runs/${run.id}/text?field=input`));
  const load = useEffectEvent(original.load);
  useEffect(() => load(), []);
  const [issue, setIssue] = useState<string | null>(null);
  const isTool = run.kind === "tool";
  const own = original.cut ? "" : isTool ? readableText(original.text) : original.text;
  const input = draft.input ?? own;
  const isChanged = input !== own;
  const { error } = dialog.mutation;
  const problem = issue ?? (error && describeError(error));

  function submit() {
    const found = isTool ? readJsonObject(input).issue : null;
    setIssue(found);
    if (found !== null) return;
    // Indentation must not count against the size limit.
    const changed = isTool ? compactJson(input) : input;
    send({ runId: run.id, input: isChanged ? changed : undefined });
  }

  const edit = (text: string) => change({ input: text });
  const control = {
    "aria-describedby": "rerun-problem",
    "aria-invalid": problem !== null,
    disabled: original.cut,
    id: "rerun-input",
    placeholder: original.loading ? "Loading the input" : undefined,
    value: input,
  };

  return (
    <FormDialog
      {...dialog}
      act="Run"
      acting="Starting"
      dismiss="Close"
      loading={original.cut}
      onClose={() => onClose(draft.input)}
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
          {isChanged && draft.isRestored ? <span className="text-muted">as you last edited it</span> : null}
          {isChanged ? (
            <Button
              className="ml-auto"
              look="quiet"
              onClick={() => {
                change({ input: null, isRestored: false });
                setIssue(null);
              }}
            >
              Reset to the run's input
            </Button>
          ) : null}
        </div>
        {original.failed ? (
          <p className="text-failed">Could not load the input. Close this dialog and try again.</p>
        ) : null}
        {isTool ? (
          <CodeEditor
            {...control}
            language="json"
            look="block"
            onChange={edit}
            problems={inputProblems(problem)}
          />
        ) : (
          <textarea
            {...control}
            className="h-64 resize-y rounded-md border border-input-line bg-canvas p-2.5"
            onChange={(event) => edit(event.target.value)}
          />
        )}
        <InputProblem id="rerun-problem" problem={problem} />
      </div>
    </FormDialog>
  );
}
