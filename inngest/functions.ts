import { type Inngest, NonRetriableError } from "inngest";
import { z } from "zod";
import type { RunEngine } from "@/server/runs/engine/engine";

/**
 * The durable functions, the same on both engines. They are thin: the event names a run and its segment, the run's row and
 * its journal hold everything else. A function's id carries the version of its loop, so that a deploy lets old runs end on
 * the loop they began with.
 */

export const RUN_EVENTS = { agent: "run/agent.admitted", tool: "run/tool.admitted" } as const;

const eventData = z.object({ runId: z.uuid(), segment: z.int().min(1) });

/** Attempts of a segment on an Inngest server, beside the first. */
const RETRIES = 8;

/** A segment on an Inngest server is one iteration: a model call and the calls it asks for. */
const ACTS_PER_CALL = 2;

/**
 * Makes the functions. On the embedded engine a segment goes on until the run ends or yields its slot; on a server it is one
 * iteration, so that the server's pages show the loop and no request lasts long.
 */
export function createRunFunctions(
  client: Inngest.Any,
  engine: Pick<RunEngine, "executeSegment" | "giveUp">,
  kind: "embedded" | "server",
) {
  const limits = kind === "embedded" ? {} : { acts: ACTS_PER_CALL };
  const create = (id: string, event: string) =>
    client.createFunction(
      {
        id,
        retries: RETRIES,
        triggers: [{ event }],
        onFailure: async ({ event: failure, error }) => {
          const { runId } = eventData.parse(failure.data.event.data);
          await engine.giveUp(runId, error);
        },
      },
      async ({ event, step }) => {
        const parsed = eventData.safeParse(event.data);
        if (!parsed.success) throw new NonRetriableError("the event names no run");
        const { runId } = parsed.data;
        for (let segment = parsed.data.segment; ; segment += 1) {
          const result = await step.run(`segment-${segment}`, () => engine.executeSegment(runId, limits));
          if (result !== "paused") return result;
        }
      },
    );
  return { agent: create("agent-run-v2", RUN_EVENTS.agent), tool: create("tool-run-v2", RUN_EVENTS.tool) };
}
