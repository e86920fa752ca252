"use client";

import { useQueries } from "@tanstack/react-query";
import { useMemo, useState } from "react";
import { useTRPC } from "@/app/_ui/providers";
import type { RunInspection } from "@/server/runs/inspect";
import { isTerminal } from "@/server/runs/words";
import type { UnfoldedRuns } from "./timeline-lines";

/** A run that goes on inside of a step is looked at anew this often; the page's own stream tells of its own lines only. */
const LOOK_EVERY_MS = 1_000;

/** The runs that steps started, unfolded below them by the reader; `first` is unfolded from the beginning. */
export function useUnfoldedRuns(first: string | null): {
  unfolded: UnfoldedRuns;
  isUnfolded: (runId: string) => boolean;
  fold: (runId: string, open: boolean) => void;
} {
  const trpc = useTRPC();
  const [ids, setIds] = useState<readonly string[]>(first ? [first] : []);
  const found = useQueries({
    queries: ids.map((runId) => ({
      ...trpc.runs.inspect.queryOptions({ runId }),
      refetchInterval: ({ state }: { state: { data?: RunInspection | undefined } }) =>
        state.data && !isTerminal(state.data.run.status) ? LOOK_EVERY_MS : (false as const),
    })),
    combine: (results) => results.flatMap(({ data }) => (data ? [data] : [])),
  });
  const unfolded = useMemo(() => new Map(found.map((each) => [each.run.id, each])), [found]);
  return {
    unfolded,
    isUnfolded: (runId) => ids.includes(runId),
    fold: (runId, open) =>
      setIds((known) => [...known.filter((id) => id !== runId), ...(open ? [runId] : [])]),
  };
}
