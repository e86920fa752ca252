import { expect, test } from "vitest";
import { NEW_TRIGGER, readDraft } from "./trigger-draft";

test("a template counts for agents only", () => {
  const draft = { ...NEW_TRIGGER, name: "Orders", slug: "orders", template: "{{ body }}" };
  expect(readDraft({ ...draft, target: "agent/helper" }).definition).toMatchObject({
    agent: "helper",
    messageTemplate: "{{ body }}",
  });
  const { definition } = readDraft({ ...draft, target: "tool/double" });
  expect(definition).toMatchObject({ tool: "double", messageTemplate: null });
  expect(definition).not.toHaveProperty("agent");
});

test("a missing target and a rate that is not a number are issues", () => {
  expect(readDraft({ ...NEW_TRIGGER, requests: "many" }).issues).toEqual({
    "/agent": "Choose an agent or a tool.",
    "/rateLimit/requests": "Enter a whole number.",
  });
});
