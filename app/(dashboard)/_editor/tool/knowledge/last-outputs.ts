import { skipToken, useQuery } from "@tanstack/react-query";
import { createContext, useMemo } from "react";
import { useTRPC } from "@/app/_ui/data/providers";
import { readJson } from "@/server/base/json/json";

/** The last outputs of a tool's steps, by step id. */
type LastOutputs = { runId: string | null; outputs: ReadonlyMap<string, unknown> };

const NONE: LastOutputs = { runId: null, outputs: new Map() };
export const LastOutputsContext = createContext(NONE);

/** The outputs of the tried run that ended last, else of the tool's newest run. */
export function useLastOutputs(toolId: string | null, ended: string | null): LastOutputs {
  const trpc = useTRPC();
  const newest = useQuery(
    trpc.runs.ids.queryOptions(
      toolId === null || ended !== null ? skipToken : { filter: { toolId }, after: null, limit: 1 },
    ),
  );
  const runId = ended ?? newest.data?.[0] ?? null;
  const { data } = useQuery(trpc.runs.stepOutputs.queryOptions(runId === null ? skipToken : { runId }));
  return useMemo(() => {
    if (runId === null || data === undefined) return NONE;
    return { runId, outputs: new Map(data.map(({ id, text }) => [id, readJson(text)])) };
  }, [runId, data]);
}
