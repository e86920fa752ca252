import { expect, it } from "vitest";
import { groupByStep } from "./results-by-step";

it("puts the items of a step and the steps of a group together, in their order", () => {
  const calls = ["orders", "stock", "customers", "parcels[0]", "parcels[1]", "old"].map((key) => ({
    step: { key },
  }));
  const steps = [
    { id: "orders", fields: {} },
    { id: "lookups", fields: { parallel: [{ id: "stock" }, { id: "customers" }, {}, 1] } },
    { id: "parcels", fields: { forEach: "steps.orders" } },
  ];
  const groups = groupByStep(calls, steps).map(({ id, lines }) => [id, lines.map(({ step }) => step.key)]);
  expect(groups).toEqual([
    ["orders", ["orders"]],
    ["lookups", ["stock", "customers"]],
    ["parcels", ["parcels[0]", "parcels[1]"]],
    ["old", ["old"]],
  ]);
});
