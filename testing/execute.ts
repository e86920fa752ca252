import { createEmbeddedDriver } from "@/inngest/embedded";
import type { MemberActor } from "@/server/base/actor";
import { admitWaitingRuns } from "@/server/runs/engine/claim";
import type { DurableSteps } from "@/server/runs/engine/execute/durable-steps";
import { YieldSlot } from "@/server/runs/engine/interruptions";
import type { SegmentResult } from "@/server/runs/engine/slots/slot";
import { removeWorker } from "@/server/runs/engine/worker";
import { streamRun } from "@/server/runs/live/run-stream";
import type { World } from "./world";

/** Gives slots to waiting runs and executes one of them until it ends or leaves its slot. Returns the outcome. */
export async function executeRun(world: World, runId: string): Promise<SegmentResult["kind"]> {
  await admitWaitingRuns(world, { worker: null, slots: 1_000 });
  return executeSegment(world, runId);
}

/** Executes a run that has a slot, in a call that is over after `calls` model calls and rounds of calls. */
export async function executeSegment(
  { engine }: Pick<World, "engine">,
  runId: string,
  { calls = Number.POSITIVE_INFINITY } = {},
): Promise<SegmentResult["kind"]> {
  let left = calls;
  const steps: DurableSteps = {
    run: (_step, work) => work(),
    checkpoint() {
      if (left <= 0) throw new YieldSlot("the call is over", { isCallOver: true });
      left -= 1;
    },
  };
  return (await engine.executeSegment({ runId }, steps)).kind;
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
 * rejected.
 */
export async function replaceWorker(world: World): Promise<void> {
  const { id } = await world.engine.worker();
  await removeWorker(world.pool, id);
}
