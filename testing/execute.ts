import { createEmbeddedDriver } from "@/inngest/embedded";
import type { MemberActor } from "@/server/auth/actor";
import { streamRun } from "@/server/live/run-stream";
import { admitWaitingRuns } from "@/server/runs/engine/claim";
import type { SegmentResult } from "@/server/runs/engine/slot";
import { removeWorker } from "@/server/runs/engine/worker";
import type { World } from "./world";

/**
 * Gives slots to the waiting runs that may have one, and executes one of them to its end, like an Inngest server's
 * call.
 */
export async function executeRun(world: World, runId: string): Promise<SegmentResult> {
  await admitWaitingRuns(world, null, 1_000);
  return world.engine.executeSegment(runId);
}

/** Starts the embedded engine of a world: from now on it gives slots to waiting runs and executes them. */
export function startEngine({ engine }: Pick<World, "engine">): void {
  engine.start(createEmbeddedDriver(engine));
}

/** Executes a run while a member watches its page; returns the events that the page gets. */
export async function executeWatched(world: World, member: MemberActor, runId: string): Promise<unknown[]> {
  const events: unknown[] = [];
  const over = new AbortController();
  const streamed = streamRun(world, member, {
    runId,
    after: -1,
    sink: {
      drained: async () => {},
      send: (event) => void events.push(event),
      close: () => over.abort(),
      signal: over.signal,
    },
  });
  await executeRun(world, runId);
  await streamed;
  return events;
}

/**
 * Replaces the worker of a process, as other processes do when it is silent. Its runs wait again, and its writes are
 * refused.
 */
export async function replaceWorker(world: World): Promise<void> {
  const { id } = await world.engine.worker();
  await removeWorker(world.pool, id);
}
