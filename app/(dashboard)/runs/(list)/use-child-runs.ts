import { useQueries, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { useTRPC } from "@/app/_ui/data/providers";
import { describeError } from "@/app/_ui/data/query-client";
import { notify } from "@/app/_ui/toast";
import { isTerminal } from "@/server/contract/enums";
import { MAX_LISTED_CHILDREN } from "@/server/runs/read/enums";
import type { RunSummary } from "@/server/runs/read/list";
import { type RunLine, runLines } from "./run-lines";

const REFRESH_MS = 5_000;

/**
 * The lines of a list of root runs, with the child runs of those that the reader opened. They are read when a run is
 * opened, and again while it or one of them is in progress. @param areRoots false: no run opens.
 */
export function useChildRuns(
  runs: RunSummary[],
  areRoots: boolean,
): { lines: RunLine[]; toggle: (run: RunLine) => void } {
  const trpc = useTRPC();
  const queryClient = useQueryClient();
  const [opened, setOpened] = useState<readonly string[]>([]);
  const ids = areRoots ? opened : [];
  const roots = runs.filter((run) => ids.includes(run.id));
  const found = useQueries({
    queries: ids.map((runId) => ({
      ...trpc.runs.children.queryOptions({ runId }),
      refetchInterval: ({ state: { data = [] } }: { state: { data: RunSummary[] | undefined } }) =>
        roots.some((run) => mayChange(run, run.id === runId ? data : [])) || data.some(isOpen)
          ? REFRESH_MS
          : false,
    })),
  });
  const children = new Map(ids.map((id, index) => [id, found[index]?.data ?? []]));

  async function toggle({ id, opened: isOpened }: RunLine): Promise<void> {
    if (isOpened) return setOpened((before) => before.filter((each) => each !== id));
    try {
      await queryClient.fetchQuery(trpc.runs.children.queryOptions({ runId: id }));
      setOpened((before) => [...before.filter((each) => each !== id), id]);
    } catch (error) {
      notify("Could not load the child runs", describeError(error).message);
    }
  }
  return { lines: runLines(runs, areRoots ? children : null), toggle: (run) => void toggle(run) };
}

const isOpen = ({ status }: RunSummary) => !isTerminal(status);

function mayChange(run: RunSummary, children: readonly RunSummary[]): boolean {
  return (
    isOpen(run) || (children.length > 0 && children.length < Math.min(run.children, MAX_LISTED_CHILDREN))
  );
}
