import type { RunSummary } from "@/server/runs/read/list";

/** A line of the list. `depth`: 0 for a run of the list itself. `opened`: null if the run does not open. */
export type RunLine = RunSummary & { depth: number; opened: boolean | null; shownChildren: number };

/** The child runs of each opened run. */
export type OpenRuns = ReadonlyMap<string, readonly RunSummary[]>;

/** Each run, followed by its child runs if it is open. @param open null: no run opens. */
export function runLines(runs: readonly RunSummary[], open: OpenRuns | null, depth = 0): RunLine[] {
  return runs.flatMap((run) => {
    const children = open?.get(run.id);
    const opened = open === null || run.children === 0 ? null : children !== undefined;
    const line = { ...run, depth, opened, shownChildren: children?.length ?? 0 };
    return children ? [line, ...runLines(children, open, depth + 1)] : [line];
  });
}
