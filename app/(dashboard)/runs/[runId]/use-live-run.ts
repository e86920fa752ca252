import { useQueryClient, useSuspenseQuery } from "@tanstack/react-query";
import { useRef, useState } from "react";
import { useEvents } from "@/app/_ui/data/live";
import { useTRPC, useTRPCClient } from "@/app/_ui/data/providers";
import { createRefetch } from "@/app/_ui/data/refetch";
import { isTerminal } from "@/server/contract/enums";
import { applyUpdate, newerInspection, type RunUpdate } from "@/server/runs/live/run-update";
import type { RunInspection } from "@/server/runs/read/inspect/inspect";

/**
 * A run with its lines. While it can change, events with the changes update it. A component that can show another run
 * needs its id as key: the stream stays that of the first run.
 */
export function useLiveRun(runId: string): RunInspection {
  const trpc = useTRPC();
  const client = useTRPCClient();
  const queryClient = useQueryClient();
  const { queryKey, ...options } = trpc.runs.inspect.queryOptions({ runId });
  const { data } = useSuspenseQuery({
    queryKey,
    ...options,
    staleTime: Number.POSITIVE_INFINITY,
    queryFn: async () => {
      const fetched = await client.runs.inspect.query({ runId });
      return newerInspection(queryClient.getQueryData(queryKey), fetched);
    },
  });
  const [refetch] = useState(() => createRefetch(queryClient));
  const seen = useRef(data.run.sequence);
  const live = !isTerminal(data.run.status);

  useEvents(
    live ? () => `/api/live/runs/${runId}?after=${seen.current}` : null,
    {
      change: (text) => {
        const change: RunUpdate = JSON.parse(text);
        seen.current = change.run.sequence;
        queryClient.setQueryData<RunInspection>(queryKey, (known) => known && applyUpdate(known, change));
        if (isTerminal(change.run.status)) {
          void queryClient.invalidateQueries({ queryKey: trpc.runs.list.pathKey() });
        }
        const changed = [
          ...change.steps.map(({ id }) => trpc.runs.step.queryKey({ runId, stepId: id })),
          ...change.calls.map(({ id }) => trpc.runs.modelCall.queryKey({ runId, callId: id })),
        ];
        for (const queryKey of changed) void refetch(queryKey);
      },
    },
    () => queryClient.invalidateQueries({ queryKey }),
  );
  return data;
}
