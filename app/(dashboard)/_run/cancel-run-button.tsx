import { useMutation } from "@tanstack/react-query";
import { Button } from "@/app/_ui/button";
import { useTRPC } from "@/app/_ui/data/providers";
import { describeError } from "@/app/_ui/data/query-client";
import { usePageActions } from "@/app/_ui/page/page-actions";
import { notify } from "@/app/_ui/toast";
import type { RunDetail } from "@/server/runs/read/inspect/inspect";

/** Cancels a run. It stays disabled until the run ends, which is soon. */
export function CancelRunButton({
  run: { id, cancelRequested },
  className,
}: {
  run: Pick<RunDetail, "id" | "cancelRequested">;
  className: string;
}) {
  const trpc = useTRPC();
  const mutation = useMutation(
    trpc.runs.cancel.mutationOptions({
      meta: { refresh: [trpc.runs.inspect.queryKey({ runId: id })] },
      onError: (error) => notify("The run could not be cancelled", describeError(error).message),
    }),
  );
  const asked = cancelRequested || mutation.isPending || mutation.isSuccess;
  const cancel = () => mutation.mutate({ runIds: [id] });
  usePageActions(asked ? [] : [{ label: "Cancel run", run: cancel }]);
  return (
    <Button className={className} disabled={asked} look="danger" onClick={cancel}>
      {asked ? "Cancelling" : "Cancel run"}
    </Button>
  );
}
