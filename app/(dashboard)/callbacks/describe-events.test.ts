import { expect, it } from "vitest";
import { CALLBACK_EVENTS } from "@/server/contract/enums";
import { describeEvents } from "./describe-events";

const CALLBACK = {
  id: "1",
  slug: "erp",
  name: "ERP",
  url: "https://erp.test",
  events: [...CALLBACK_EVENTS],
  agents: [],
  tools: [],
  triggers: [],
  metadata: {},
  creditsBelow: "100.0000",
  disabledAt: null,
  failingSince: null,
  hours: [],
  p95Ms: null,
  waiting: 0,
};
const named = (name: string) => ({ id: name, slug: name, name, archived: false });

it.each([
  [{}, "All types"],
  [{ events: ["run.completed", "run.failed", "run.cancelled"] }, "Run ended"],
  [{ events: ["run.failed", "run.waiting"] }, "Run failed, waiting"],
  [{ events: ["run.failed", "credits.low", "schedule.missed"] }, "Run failed, credits low, schedule missed"],
  [{ events: ["schedule.missed"] }, "Schedule missed"],
  [{ agents: [named("Order desk")] }, "All types, agent Order desk"],
  [
    { events: ["run.failed"], tools: [named("Refund")], triggers: [named("Shop")], metadata: { shop: "no" } },
    "Run failed, tool Refund and 2 more",
  ],
])("%j: %s", (part, expected) => {
  expect(describeEvents({ ...CALLBACK, ...part })).toBe(expected);
});
