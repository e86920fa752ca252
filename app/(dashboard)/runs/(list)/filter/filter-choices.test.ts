import { expect, test } from "vitest";
import type { RunFilter } from "@/server/runs/read/find/filter";
import { choicesFor } from "./filter-choices";

const id = "0193c4aa-2efc-779d-96d7-58140f1414c7";
const targets = {
  agents: [{ id, name: "Helper" }],
  tools: [],
  triggers: [{ id, name: "Ask the helper" }],
  schedules: [],
  keys: [],
  people: [],
};
const choices = (filter: RunFilter, text: string) =>
  choicesFor(filter, { targets, text, timeZone: "UTC" }).map(({ name, items }) => [
    name,
    ...items.map(({ label }) => label),
  ]);
const take = (filter: RunFilter, text: string, latest = filter) =>
  choicesFor(filter, { targets, text, timeZone: "UTC" })[0]?.items[0]?.change(latest);

test("offers every condition of the columns that has values", () => {
  expect(choices({}, "").map(([name]) => name)).toEqual([
    "Status",
    "Created",
    "Kind",
    "Agent",
    "Started by",
    "Trigger",
    "Duration",
    "Tokens",
    "Credits",
  ]);
});

test("typing narrows the choices by name or by condition", () => {
  expect(choices({}, "helper")).toEqual([
    ["Agent", "Helper"],
    ["Trigger", "Ask the helper"],
  ]);
  expect(choices({}, "kind")).toEqual([["Kind", "agent runs", "tool runs"]]);
  expect(choices({}, "> 90 s")).toEqual([["As typed", "took 1 min 30 s or more"]]);
});

test("a typed period is offered once, whatever its words", () => {
  const offered = (text: string) => choices({}, text).flatMap(([, ...labels]) => labels);
  for (const text of ["last 7 days", "last 24 hours", "past 1 week", "last 60 minutes"]) {
    expect(offered(text), text).toHaveLength(1);
  }
  expect(take({}, "last 24 hours")).toEqual({ period: "24h" });
});

test("statuses add up, other values replace each other, and choosing again removes", () => {
  expect(take({ status: ["Failed"] }, "cancelled")).toEqual({ status: ["Failed", "Cancelled"] });
  expect(take({ status: ["Failed"], kind: "tool" }, "failed")).toEqual({ kind: "tool" });
  expect(take({ kind: "tool" }, "agent runs")).toEqual({ kind: "agent" });
  expect(take({ agentId: id }, "helper")).toEqual({});
});

test("a choice changes the latest filter, in the way it was shown", () => {
  const latest: RunFilter = { status: ["Failed"], kind: "tool" };
  expect(take({}, "completed", latest)).toEqual({ status: ["Failed", "Completed"], kind: "tool" });
  expect(take({}, "failed", latest)).toEqual(latest);
  expect(take({ status: ["Failed", "Completed"] }, "completed", latest)).toEqual(latest);
  expect(take({}, "agent runs", latest)).toEqual({ status: ["Failed"], kind: "agent" });
  expect(take({ kind: "tool" }, "tool runs", latest)).toEqual({ status: ["Failed"] });
  expect(take({}, "< 0.5 credits", latest)).toEqual({ ...latest, maxCredits: "0.5" });
  expect(take({}, "order = 42", { metadata: { customer: "acme" } })).toEqual({
    metadata: { customer: "acme", order: "42" },
  });
});

test("relative periods and days replace each other", () => {
  expect(take({ from: "2026-11-01T00:00:00.000Z", kind: "tool" }, "last hour")).toEqual({
    period: "1h",
    kind: "tool",
  });
  expect(take({ period: "7d" }, "since 2026-11-20")).toEqual({ from: "2026-11-20T00:00:00.000Z" });
});
