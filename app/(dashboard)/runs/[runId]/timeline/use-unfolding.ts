"use client";

import { useQueries } from "@tanstack/react-query";
import { useMemo, useState } from "react";
import { useTRPC } from "@/app/_ui/data/providers";
import { isTerminal } from "@/server/contract/enums";
import type { RunInspection } from "@/server/runs/read/inspect/inspect";
import { attemptsOf, isWork, type Line, type UnfoldedRuns } from "../lines";

/** How often an open child run is fetched: the page's stream covers its own run only. */
const POLL_EVERY_MS = 1_000;

/** Expanded lines: the steps of a child run, and the attempts of a line that has several. */
export type Unfolding = {
  isUnfolded: (line: Line) => boolean;
  fold: (line: Line, open: boolean) => void;
};

export function canUnfold(line: Line): boolean {
  return startedRun(line) !== null || (isWork(line) && attemptsOf(line).length > 1);
}

function startedRun(line: Line): string | null {
  return line.kind === "step" ? line.step.childRunId : null;
}

/** What the reader expanded. `first` starts expanded: a child run, or a line's attempts by its slug. */
export function useUnfolding(first: { run: string | null; attempts: string | null }): {
  runs: UnfoldedRuns;
  /** Slugs of the lines whose attempts are expanded. */
  attempts: ReadonlySet<string>;
  unfolding: Unfolding;
} {
  const trpc = useTRPC();
  const [ids, setIds] = useState<ReadonlySet<string>>(new Set(first.run ? [first.run] : []));
  const [slugs, setSlugs] = useState<ReadonlySet<string>>(new Set(first.attempts ? [first.attempts] : []));
  const found = useQueries({
    queries: [...ids].map((runId) => ({
      ...trpc.runs.inspect.queryOptions({ runId }),
      refetchInterval: ({ state }: { state: { data?: RunInspection | undefined } }) =>
        state.data && !isTerminal(state.data.run.status) ? POLL_EVERY_MS : (false as const),
    })),
    combine: (results) => results.flatMap(({ data }) => (data ? [data] : [])),
  });
  const runs = useMemo(() => new Map(found.map((each) => [each.run.id, each])), [found]);
  return {
    runs,
    attempts: slugs,
    unfolding: {
      isUnfolded: (line) => {
        const inner = startedRun(line);
        return inner === null ? slugs.has(line.slug) : ids.has(inner);
      },
      fold: (line, open) => {
        const inner = startedRun(line);
        if (inner !== null) setIds((known) => changed(known, inner, open));
        setSlugs((known) => changed(known, line.slug, open));
      },
    },
  };
}

function changed(known: ReadonlySet<string>, key: string, present: boolean): ReadonlySet<string> {
  const next = new Set(known);
  if (present) next.add(key);
  else next.delete(key);
  return next;
}
