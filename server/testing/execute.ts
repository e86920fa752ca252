import { admitWaitingRuns } from "@/server/runs/engine/claim";
import type { SegmentResult } from "@/server/runs/engine/engine";
import type { World } from "./world";

/** Gives every waiting run that may have one a slot and executes one of them to its end, as an Inngest server's call would. */
export async function executeRun(world: World, runId: string): Promise<SegmentResult> {
  await admitWaitingRuns(world, null, 1_000);
  return world.engine.executeSegment(runId);
}
