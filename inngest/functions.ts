import { type Inngest, NonRetriableError } from "inngest";
import { z } from "zod";
import type { SegmentResult } from "@/server/runs/engine/engine";

/**
 * The durable functions, the same on both engines. They are thin: the event names a run and its segment, the run's row and
 * its journal hold everything else. A function's id carries the version of its loop, so that a deploy lets old runs end on
 * the loop they began with.
 */

export const RUN_EVENTS = { agent: "run/agent.admitted", tool: "run/tool.admitted" } as const;

const eventData = z.object({ runId: z.uuid(), segment: z.int().min(1) });

/**
 * How often an Inngest server calls a segment again that no process answers. After that, the run is handed over by another
 * event; it ends by its deadline at the latest.
 */
const RETRIES = 3;

/** Makes the functions, around what executes a segment of a run. */
export function createRunFunctions(
  client: Inngest.Any,
  executeSegment: (runId: string) => Promise<SegmentResult>,
) {
  const create = (id: string, event: string) =>
    client.createFunction(
      {
        id,
        retries: RETRIES,
        triggers: [{ event }],
      },
      async ({ event, step }) => {
        const parsed = eventData.safeParse(event.data);
        if (!parsed.success) throw new NonRetriableError("the event names no run");
        const { runId } = parsed.data;
        for (let segment = parsed.data.segment; ; segment += 1) {
          const result = await step.run(`segment-${segment}`, () => executeSegment(runId));
          if (result !== "paused") return result;
        }
      },
    );
  return { agent: create("agent-run-v2", RUN_EVENTS.agent), tool: create("tool-run-v2", RUN_EVENTS.tool) };
}
