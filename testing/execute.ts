import { admitWaitingRuns } from "@/server/runs/engine/claim";
import type { SegmentResult } from "@/server/runs/engine/engine";
import { removeWorker } from "@/server/runs/engine/worker";
import type { World } from "./world";

/** Gives every waiting run that may have one a slot, and executes one of them to its end, like an Inngest server's call. */
export async function executeRun(world: World, runId: string): Promise<SegmentResult> {
  await admitWaitingRuns(world, null, 1_000);
  return world.engine.executeSegment(runId);
}

/**
 * Replaces the worker of a process, as other processes do when it is silent: its runs wait again, and its writes are
 * refused.
 */
export async function replaceWorker(world: World): Promise<void> {
  const { id } = await world.engine.worker();
  await removeWorker(world.pool, id);
}
