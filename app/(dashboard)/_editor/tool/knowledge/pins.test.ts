import { expect, it } from "vitest";
import { describeUsed, readPins, usedAlone, usedUpTo } from "./pins";

const steps = [{ id: "orders" }, { id: "late" }, { id: "notify" }];
const pins = new Map([
  ["orders", { runId: "first", step: "fetch" }],
  ["notify", { runId: "first", step: "notify" }],
]);

it("uses the pinned outputs of the steps before the one that is tested", () => {
  expect(usedUpTo(steps, pins, null)).toEqual({
    orders: { runId: "first", step: "fetch" },
    notify: { runId: "first", step: "notify" },
  });
  expect(usedUpTo(steps, pins, "notify")).toEqual({ orders: { runId: "first", step: "fetch" } });
  expect(usedUpTo(steps, pins, "orders")).toEqual({});
});

it("uses the last outputs of the others if a step runs alone, and says which", () => {
  const used = usedAlone(steps, pins, {
    only: "notify",
    last: { runId: "second", known: new Map([["late", "overdue"]]) },
  });
  expect(used).toEqual({
    orders: { runId: "first", step: "fetch" },
    late: { runId: "second", step: "overdue" },
  });
  expect(describeUsed(used, pins)).toBe("Outputs used, pinned: orders; from the last run: late.");
  const unknown = usedAlone(steps, pins, { only: "notify", last: { runId: null, known: new Map() } });
  expect(unknown.late).toBeNull();
  expect(describeUsed(unknown, pins)).toBe("Outputs used, pinned: orders.");
  expect(describeUsed({}, pins)).toBeNull();
});

it("reads stored pins, and drops invalid ones", () => {
  const stored = JSON.stringify({ orders: { runId: "first", step: "fetch" }, late: 1 });
  expect([...readPins(stored).keys()]).toEqual(["orders"]);
  expect(readPins("[").size).toBe(0);
  expect(readPins(null).size).toBe(0);
});
