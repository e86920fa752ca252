import { expect, it } from "vitest";
import { queueReason } from "./liveness";

it.each([
  [{ ahead: 4, slots: 3, taken: 3 }, "All 3 slots of the plan are taken; 4 runs will start first."],
  [{ ahead: 0, slots: 1, taken: 1 }, "The plan's only slot is taken; this run is next."],
  [{ ahead: 0, slots: 3, taken: 2 }, "A slot is free. The run is about to start."],
  [
    { ahead: 1, slots: 3, taken: 0 },
    "The plan has free slots, but the server is busy; 1 run will start first.",
  ],
])("explains why a run has not started: %o", (queue, sentence) => {
  expect(queueReason(queue)).toBe(sentence);
});
