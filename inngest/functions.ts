import { z } from "zod";
import type { RunCall } from "@/server/runs/engine/engine";
import type { DurableSteps, StepName } from "@/server/runs/engine/execute/durable-steps";
import type { SegmentResult } from "@/server/runs/engine/slots/slot";

/**
 * The durable function of a run, the same for both drivers: each model call and each call of a function is one
 * step.
 */

export const RUN_EVENTS = { agent: "run/agent.admitted", tool: "run/tool.admitted" } as const;

const eventData = z.object({ runId: z.uuid(), handOver: z.int().min(1).optional() });

/** Reads the data of a run's event. Throws if it names no run. */
export const readRunEvent = (data: unknown): RunCall => eventData.parse(data);

/** The step tools of a call: the journal's, or an Inngest server's. */
export type StepTools = DurableSteps & {
  /** Ends the call; the next call comes at `time`. */
  sleepUntil(step: StepName, time: Date): Promise<void>;
};

/** Creates the durable function of runs. `execute` executes a run until it ends, waits or the call must end. */
export function createRunHandler(execute: (call: RunCall, steps: DurableSteps) => Promise<SegmentResult>) {
  return async ({ event, step }: { event: { data: unknown }; step: StepTools }): Promise<SegmentResult> => {
    const result = await execute(readRunEvent(event.data), step);
    if (result.kind === "asleep")
      await step.sleepUntil(
        { id: result.id, name: `wait until ${result.until.toISOString()}` },
        result.until,
      );
    if (result.kind === "paused") await step.sleepUntil({ id: result.id, name: "next request" }, new Date());
    return result;
  };
}
