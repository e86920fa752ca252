import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { RUN_STATUSES } from "./enums";
import {
  agentRunDetailsView,
  agentRunStatusView,
  runStarted,
  startEstimate,
  TOOL_STATUS_INT,
  toolRunResultView,
  toolRunStatusView,
  webhookAccepted,
  webhookFiltered,
} from "./shapes";

const page = readFileSync(join(import.meta.dirname, "../../docs/contract.md"), "utf8");

function fieldsAfter(text: string): string[] {
  const [, after = ""] = page.split(`\n${text}\n`);
  const [table = ""] = after.slice(after.indexOf("\n|---") + 1).split("\n\n");
  return table.split("\n").flatMap((row) => {
    const [, first = ""] = row.split("|");
    return [...first.matchAll(/`(\w+)`/g)].map(([, name = ""]) => name);
  });
}

it.each([
  ["### Run started", runStarted],
  ["### Estimate", startEstimate],
  ["### Agent run", agentRunStatusView],
  ["Endpoint 4 adds `steps`, the finished steps in order:", agentRunDetailsView.shape.steps.element],
  ["### Tool run", toolRunStatusView],
  ["### Tool run result", toolRunResultView],
  ["### Webhook accepted", webhookAccepted],
  ["### Webhook filtered", webhookFiltered],
])("lists the fields of “%s” in order, and no other", (heading, schema) => {
  expect(fieldsAfter(heading)).toEqual(Object.keys(schema.shape));
});

it("endpoint 4 is endpoint 3 with steps", () => {
  expect(Object.keys(agentRunDetailsView.shape)).toEqual([...Object.keys(agentRunStatusView.shape), "steps"]);
});

it("lists the statuses of both kinds of runs", () => {
  expect(page).toContain(RUN_STATUSES.map((status) => `\`${status}\``).join(", "));
  const numbered = Object.entries(TOOL_STATUS_INT).map(([status, number]) => `\`${status}\` ${number}`);
  expect(page).toContain(numbered.join(", "));
});
