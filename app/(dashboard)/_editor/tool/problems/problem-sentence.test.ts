import { expect, test } from "vitest";
import { readTool } from "../tool-document";
import { describeProblem } from "./problem-sentence";

const TOOL = readTool("steps:\n  - { id: orders, uses: http_request }\n  - { uses: wait }\n");

test.each([
  [["steps", 0, "with", "value"], "Fixed value in step orders"],
  [["steps", 1, "if"], "Fixed Only if in step 2"],
  [["steps", 0], "Fixed step orders"],
  [["nam"], "Fixed nam"],
  [[], "Fixed the tool"],
])("the message once the problem of %j is repaired: %s", (path, expected) => {
  const problem = { line: 7, path, issue: "is not known here", message: "unused" };
  expect(describeProblem(problem, TOOL).repaired).toBe(expected);
});

test.each([
  [
    ["steps", 0, "with", "url"],
    "is required by http_request",
    "orders, url: url is required by http_request.",
  ],
  [
    ["steps", 1, "with", "headers", "x-a"],
    'there is no step "b"; steps before this one: orders',
    'Step 2, headers › x-a: There is no step "b". Steps before this one: orders.',
  ],
  [
    ["steps", 0, "with", "value"],
    'http_request doesn\'t take "value"; known inputs: url, method',
    'orders, value: http_request doesn\'t take "value". Known inputs: url, method.',
  ],
  [["steps", 0, "retries"], "must be at most 10", "orders, Retries: Retries must be at most 10."],
  [["steps"], "must have at least 1 item", "Steps: Steps must have at least 1 item."],
  [["slug"], "is required", "Slug: Slug is required."],
  [["output", "list", 0], 'the step "x" comes later', 'Output › list › item 1: The step "x" comes later.'],
  [[], "Nested mappings are not allowed here.", "Line 7: Nested mappings are not allowed here."],
])("the problem of %j: %s", (path, issue, expected) => {
  const { place, sentence } = describeProblem({ line: 7, path, issue, message: "unused" }, TOOL);
  expect(`${place}: ${sentence}`).toBe(expected);
});
