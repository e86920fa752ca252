import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useTRPC, useTRPCClient } from "@/app/_ui/data/providers";
import { describeError } from "@/app/_ui/data/query-client";
import { formatPlural } from "@/app/_ui/figures/format";
import { useNotify } from "@/app/_ui/toast";

/** Cancels runs with one request after another, and reads the list again. `cancel` returns how many there were. */
export function useCancelRuns(cancel: (client: ReturnType<typeof useTRPCClient>) => Promise<number>) {
  const trpc = useTRPC();
  const client = useTRPCClient();
  const queryClient = useQueryClient();
  const notify = useNotify();
  return useMutation({
    mutationFn: () => cancel(client),
    onSuccess: (count) =>
      notify(count === 0 ? "No run was open" : `Cancelling ${formatPlural(count, "run")}`),
    onError: (error) => notify("Not all runs could be cancelled", describeError(error).message),
    onSettled: () => void queryClient.invalidateQueries({ queryKey: trpc.runs.list.pathKey() }),
  });
}
