import { useQueries } from "@tanstack/react-query";
import { useEffect, useMemo, useState } from "react";
import { useTRPC } from "@/app/_ui/data/providers";
import { describeError } from "@/app/_ui/data/query-client";
import { notify } from "@/app/_ui/toast";
import { isTerminal } from "@/server/contract/enums";
import type { RunInspection } from "@/server/runs/read/inspect/inspect";
import { isWork, type Line } from "../lines";

/** Open child runs are polled, because the page's stream covers its own run only. */
const POLL_EVERY_MS = 1_000;

/** Returns true if a line has a child run, or several attempts. */
export function canUnfold(line: Line): boolean {
  return startedRun(line) !== null || (isWork(line) && line.attempts.length > 1);
}

function startedRun(line: Line): string | null {
  return line.kind === "step" ? line.step.childRunId : null;
}

/**
 * The expanded lines, to the steps of their child run or to their attempts. @param first what starts expanded: a
 * child run, or a line's attempts by its slug
 */
export function useUnfolding(first: { run: string | null; attempts: string | null }) {
  const trpc = useTRPC();
  const [ids, setIds] = useState<ReadonlySet<string>>(() => setIncluded(new Set(), first.run, true));
  const [attempts, setAttempts] = useState<ReadonlySet<string>>(() =>
    setIncluded(new Set(), first.attempts, true),
  );
  const asked = [...ids];
  const found = useQueries({
    queries: asked.map((runId) => ({
      ...trpc.runs.inspect.queryOptions({ runId }),
      refetchInterval: ({ state }: { state: { data?: RunInspection | undefined } }) =>
        state.data && !isTerminal(state.data.run.status) ? POLL_EVERY_MS : (false as const),
    })),
    combine: (results) => ({
      runs: results.flatMap(({ data }) => (data ? [data] : [])),
      failed: results.flatMap(({ data, error }, at) => (error && !data ? [{ runId: asked[at], error }] : [])),
    }),
  });
  useEffect(() => {
    for (const { runId = null, error } of found.failed) {
      notify("Could not load the child run", describeError(error).message);
      setIds((known) => setIncluded(known, runId, false));
    }
  }, [found.failed]);
  const unfolded = useMemo(
    () => ({ runs: new Map(found.runs.map((each) => [each.run.id, each])), attempts }),
    [found.runs, attempts],
  );
  return {
    unfolded,
    isUnfolded: (line: Line) => {
      const inner = startedRun(line);
      return inner === null ? attempts.has(line.slug) : ids.has(inner);
    },
    unfold: (line: Line, open: boolean) => {
      setIds((known) => setIncluded(known, startedRun(line), open));
      setAttempts((known) => setIncluded(known, line.slug, open));
    },
  };
}

/** The set with or without a key; null changes nothing. */
export function setIncluded(
  known: ReadonlySet<string>,
  key: string | null,
  present: boolean,
): ReadonlySet<string> {
  if (key === null) return known;
  const next = new Set(known);
  if (present) next.add(key);
  else next.delete(key);
  return next;
}
