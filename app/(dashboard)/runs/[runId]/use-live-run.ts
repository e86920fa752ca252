"use client";

import { useQueryClient, useSuspenseQuery } from "@tanstack/react-query";
import { useRef } from "react";
import { useEvents } from "@/app/_ui/live";
import { useTRPC } from "@/app/_ui/providers";
import { isTerminal } from "@/server/contract/enums";
import type { RunInspection } from "@/server/runs/read/inspect";

/** A run with its lines, updated by events while it can change. */
export function useLiveRun(runId: string): RunInspection {
  const trpc = useTRPC();
  const queryClient = useQueryClient();
  const { queryKey, ...options } = trpc.runs.inspect.queryOptions({ runId });
  const { data } = useSuspenseQuery({ queryKey, ...options, staleTime: Number.POSITIVE_INFINITY });
  const seen = useRef(data.run.sequence);
  const live = !isTerminal(data.run.status);

  const look = () => queryClient.invalidateQueries({ queryKey });

  useEvents(
    live ? () => `/api/live/runs/${runId}?after=${seen.current}` : null,
    {
      change: (text) => {
        const change: RunInspection = JSON.parse(text);
        seen.current = change.run.sequence;
        queryClient.setQueryData<RunInspection>(queryKey, (known) => (known ? merge(known, change) : change));
        for (const step of change.steps) {
          void queryClient.invalidateQueries({
            queryKey: trpc.runs.step.queryKey({ runId, stepId: step.id }),
          });
        }
        for (const call of change.calls) {
          void queryClient.invalidateQueries({
            queryKey: trpc.runs.modelCall.queryKey({ runId, callId: call.id }),
          });
        }
      },
      // The end of a run also closes its open lines: fetch everything once more.
      end: () => {
        void look();
        void queryClient.invalidateQueries({ queryKey: trpc.runs.list.pathKey() });
      },
    },
    look,
  );
  return data;
}

/** Merges changed lines into the known ones. A line never returns to an older state. */
export function merge(known: RunInspection, change: RunInspection): RunInspection {
  return {
    run: change.run.sequence >= known.run.sequence ? change.run : known.run,
    steps: mergeLines(known.steps, change.steps),
    calls: mergeLines(known.calls, change.calls),
  };
}

function mergeLines<Line extends { id: string; sequence: number }>(known: Line[], changed: Line[]): Line[] {
  if (changed.length === 0) return known;
  const byId = new Map(known.map((line) => [line.id, line]));
  for (const line of changed) {
    const old = byId.get(line.id);
    if (!old || old.sequence <= line.sequence) byId.set(line.id, line);
  }
  return [...byId.values()];
}
