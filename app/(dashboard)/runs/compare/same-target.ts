import type { RunFilter } from "@/server/runs/read/filter";
import type { RunDetail } from "@/server/runs/read/inspect/inspect";

export function sameTarget(run: Pick<RunDetail, "agentId" | "toolId">): RunFilter {
  return run.agentId ? { agentId: run.agentId } : { toolId: run.toolId ?? "" };
}
