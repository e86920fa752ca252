import { skipToken, useQueries, useQuery } from "@tanstack/react-query";
import { createContext, useMemo } from "react";
import { useTRPC } from "@/app/_ui/data/providers";
import { readJson } from "@/server/base/json/json";
import { ENDED_STATUSES } from "@/server/contract/enums";
import type { StepCondition } from "@/server/runs/read/step-values";
import type { Pins } from "./pins";
import { presentName, type Renames } from "./renames";

/** The last values of a tool's steps, by step id. */
export type LastOutputs = {
  runId: string | null;
  known: ReadonlyMap<string, string>;
  outputs: ReadonlyMap<string, unknown>;
  conditions: ReadonlyMap<string, StepCondition>;
};

const NONE: LastOutputs = { runId: null, known: new Map(), outputs: new Map(), conditions: new Map() };
export const LastOutputsContext = createContext(NONE);

/** The values of the tried run that ended last, else of the tool's newest ended run, and the pinned outputs. */
export function useLastOutputs(
  toolId: string | null,
  { ended, pins, renames }: { ended: string | null; pins: Pins; renames: Renames },
): LastOutputs {
  const trpc = useTRPC();
  const newest = useQuery(
    trpc.runs.ids.queryOptions(
      toolId === null || ended !== null
        ? skipToken
        : // The values of an open run would be kept although more follow.
          { filter: { toolId, status: [...ENDED_STATUSES] }, after: null, limit: 1 },
    ),
  );
  const runId = ended ?? newest.data?.[0] ?? null;
  const { data } = useQuery(trpc.runs.stepValues.queryOptions(runId === null ? skipToken : { runId }));
  const pinnedValues = useQueries({
    queries: runsOf(pins).map((each) => trpc.runs.stepValues.queryOptions({ runId: each })),
    combine: (results) => results.map((result) => result.data),
  });
  return useMemo(() => {
    const isRead = runId !== null && data !== undefined;
    const { outputs: found, conditions } = isRead ? data : { outputs: [], conditions: [] };
    const nameOf = (id: string) => (runId === null ? id : presentName(renames, runId, id));
    const outputs = new Map<string, unknown>(found.map(({ id, text }) => [nameOf(id), readJson(text)]));
    const known = new Map(found.map(({ id }) => [nameOf(id), id]));
    const pinnedRuns = runsOf(pins);
    for (const [id, { runId: from, step }] of pins) {
      const pinned = pinnedValues[pinnedRuns.indexOf(from)]?.outputs.find((output) => output.id === step);
      if (pinned === undefined) outputs.delete(id);
      else outputs.set(id, readJson(pinned.text));
    }
    return {
      runId: isRead ? runId : null,
      known,
      outputs,
      conditions: new Map(conditions.map((condition) => [nameOf(condition.id), condition])),
    };
  }, [runId, data, pins, pinnedValues, renames]);
}

const runsOf = (pins: Pins) => [...new Set([...pins.values()].map(({ runId }) => runId))];
