import type { Driver } from "@/server/runs/engine/dispatcher";
import type { RunEngine } from "@/server/runs/engine/engine";
import { createRunHandler, type StepTools } from "./functions";

/** The run's journal remembers finished steps, and its row when it continues. */
const JOURNAL_STEPS: StepTools = {
  run: (_step, work) => work(),
  checkpoint() {},
  async sleepUntil() {},
};

/** The embedded engine: calls the durable function in this process. The runs' own rows are its queue. */
export function createEmbeddedDriver(engine: Pick<RunEngine, "executeSegment">): Driver {
  const handle = createRunHandler((call, steps) => engine.executeSegment(call, steps));
  return {
    kind: "embedded",
    async execute({ id }) {
      await handle({ event: { data: { runId: id } }, step: JOURNAL_STEPS });
    },
  };
}
