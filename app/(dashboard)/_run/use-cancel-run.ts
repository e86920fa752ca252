"use client";

import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useTRPC } from "@/app/_ui/data/providers";
import { describeError } from "@/app/_ui/data/query-client";
import { useNotify } from "@/app/_ui/toast";

/** Cancels a run. `asked`: it has been cancelled, and ends soon. */
export function useCancelRun({ id, cancelRequested }: { id: string; cancelRequested: boolean }) {
  const trpc = useTRPC();
  const queryClient = useQueryClient();
  const notify = useNotify();
  const mutation = useMutation(
    trpc.runs.cancel.mutationOptions({
      onSuccess: () => queryClient.invalidateQueries({ queryKey: trpc.runs.inspect.queryKey({ runId: id }) }),
      onError: (error) => notify("The run could not be cancelled", describeError(error).message),
    }),
  );
  return {
    asked: cancelRequested || mutation.isPending || mutation.isSuccess,
    cancel: () => mutation.mutate({ runIds: [id] }),
  };
}
