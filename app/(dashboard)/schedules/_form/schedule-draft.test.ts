import { expect, test } from "vitest";
import { NEW_SCHEDULE, readDraft } from "./schedule-draft";

test("an agent gets the message, a tool the input", () => {
  const draft = { ...NEW_SCHEDULE, name: "Report", slug: "report", message: "Hi", input: '{"a":1}' };
  const ofAgent = readDraft({ ...draft, target: "agent/helper" }).definition;
  expect(ofAgent).toMatchObject({ agent: "helper", message: "Hi", catchUpSeconds: 3600 });
  expect(ofAgent).not.toHaveProperty("input");
  const ofTool = readDraft({ ...draft, target: "tool/double", catchUpMinutes: "1.5" }).definition;
  expect(ofTool).toMatchObject({ tool: "double", input: { a: 1 }, catchUpSeconds: 90 });
  expect(ofTool).not.toHaveProperty("message");
});

test("a missing target, no number and no object are issues", () => {
  expect(readDraft({ ...NEW_SCHEDULE, jitterSeconds: "many" }).issues).toEqual({
    "/agent": "Choose an agent or a tool.",
    "/jitterSeconds": "Enter a number.",
  });
  const issueOf = (input: string) =>
    readDraft({ ...NEW_SCHEDULE, target: "tool/double", input }).issues["/input"];
  expect(issueOf("[]")).toBe("The input of a tool must be a JSON object.");
  expect(issueOf('{"a":1e999}')).toBe("The JSON contains a number that is too large.");
  expect(issueOf('{"a":1,"a":2}')).toContain('"a" appears twice');
  expect(issueOf(" ")).toBeUndefined();
});
