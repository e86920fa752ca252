import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import { Button } from "@/app/_ui/button";
import { useTRPC } from "@/app/_ui/data/providers";
import { lazy } from "@/app/_ui/lazy";
import { usePageActions } from "@/app/_ui/page/page-actions";
import type { RunDetail } from "@/server/runs/read/inspect/inspect";

const ConfirmDialog = lazy(() => import("@/app/_ui/forms/form-dialog"), "ConfirmDialog");

/** Cancels a run, after it has asked. It stays disabled until the run ends, which is soon. */
export function CancelRunButton({
  run: { id, cancelRequested },
  className,
}: {
  run: Pick<RunDetail, "id" | "cancelRequested">;
  className: string;
}) {
  const trpc = useTRPC();
  const [asking, setAsking] = useState(false);
  const mutation = useMutation(
    trpc.runs.cancel.mutationOptions({
      meta: { refresh: [trpc.runs.inspect.queryKey({ runId: id })] },
      onSuccess: () => setAsking(false),
    }),
  );
  const requested = cancelRequested || mutation.isSuccess;
  const isBusy = requested || mutation.isPending;
  const ask = () => setAsking(true);
  usePageActions(requested ? [] : [{ label: "Cancel run", run: ask }]);
  return (
    <>
      <Button
        // Not `disabled`: the focus returns to it when the dialog closes.
        aria-disabled={isBusy}
        aria-haspopup="dialog"
        className={className}
        look="danger"
        onClick={isBusy ? undefined : ask}
      >
        {isBusy ? "Cancelling" : "Cancel run"}
      </Button>
      {asking && !cancelRequested ? (
        <ConfirmDialog
          act="Cancel run"
          acting="Cancelling"
          dismiss="Keep running"
          mutation={mutation}
          onClose={() => setAsking(false)}
          onConfirm={() => mutation.mutate({ runIds: [id] })}
          title="Cancel this run"
        >
          <p>
            The call in progress is interrupted, and later steps are not executed. What it used so far is
            charged.
          </p>
        </ConfirmDialog>
      ) : null}
    </>
  );
}
