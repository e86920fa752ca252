import { type Inngest, NonRetriableError } from "inngest";
import { z } from "zod";
import type { SegmentResult } from "@/server/runs/engine/slot";

/**
 * The durable functions, the same for both drivers. The event names a run and its segment; the run's row and journal
 * hold the rest. A function's id has the version of its loop, so that after a deploy old runs finish with their loop.
 */

export const RUN_EVENTS = { agent: "run/agent.admitted", tool: "run/tool.admitted" } as const;

const eventData = z.object({ runId: z.uuid(), segment: z.int().min(1) });

/**
 * How often an Inngest server repeats a call that no process answers. Afterwards another event hands the run over
 * again; its deadline ends it at the latest.
 */
const RETRIES = 3;

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
