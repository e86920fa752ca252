import { type Inngest, NonRetriableError } from "inngest";
import { z } from "zod";
import { executeRun, type Remember, settleGivenUp } from "@/server/runs/execute";
import type { Services } from "@/server/services";

/**
 * The durable functions, the same on both engines. They are thin: the event names a run, the run's row and its
 * steps' rows hold everything else. A function's id carries the version of its loop, so that a deploy lets old
 * runs end on the loop they began with.
 */

export const RUN_EVENTS = { agent: "run/agent.admitted", tool: "run/tool.admitted" } as const;

/** Events of releases before runs gave places back say no epoch. */
const eventData = z.object({ runId: z.uuid(), epoch: z.int().optional() });

/** A run whose process dies is tried again by the engine; six deaths in a row are the run's own doing. */
const RETRIES = 5;

export function createRunFunctions(client: Inngest.Any, services: Services) {
  const create = (id: string, event: string) =>
    client.createFunction(
      {
        id,
        retries: RETRIES,
        triggers: [{ event }],
        onFailure: async ({ event: failure, error }) => {
          const { runId } = eventData.parse(failure.data.event.data);
          await settleGivenUp(services, runId, error, failure.data.run_id);
        },
      },
      async ({ event: admitted, step, runId: engineRunId }) => {
        const parsed = eventData.safeParse(admitted.data);
        if (!parsed.success) throw new NonRetriableError("the event names no run");
        const remember: Remember = async (name, work) => z.string().parse(await step.run(name, work));
        const { runId, epoch } = parsed.data;
        await executeRun(services, runId, remember, engineRunId, epoch);
      },
    );
  return [create("agent-run-v1", RUN_EVENTS.agent), create("tool-run-v1", RUN_EVENTS.tool)];
}
