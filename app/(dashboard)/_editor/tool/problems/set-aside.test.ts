import { expect, test } from "vitest";
import { parse } from "yaml";
import { restoreFunction, setFunction } from "./set-aside";

const TOOL = `steps:
  - id: mail
    uses: send_email
    with:
      to: a@b.test # the desk
      body: "{{ input.text }}"
`;
const stepOf = (text: string) => parse(text).steps[0];
const change = (text: string, uses: string, takes: string[], aside = {}) =>
  setFunction(text, { place: { index: 0 }, uses, takes: new Set(takes), aside });

test("inputs that a function does not take are set aside, and come back with a function that takes them", () => {
  const changed = change(TOOL, "http_request", ["url", "body"]);
  expect(stepOf(changed.text)).toEqual({
    id: "mail",
    uses: "http_request",
    with: { body: "{{ input.text }}" },
  });
  expect(changed.aside).toEqual({ to: "a@b.test" });
  const back = change(changed.text, "send_email", ["to", "subject", "body"], changed.aside);
  expect(stepOf(back.text)).toEqual(stepOf(TOOL));
  expect(back.aside).toEqual({});
});

test("a function without inputs in common is undone", () => {
  const changed = change(TOOL, "current_time", []);
  expect(stepOf(changed.text)).toEqual({ id: "mail", uses: "current_time", with: {} });
  const later = changed.text.replace("steps:\n", "steps:\n  - { id: first, uses: current_time }\n");
  expect(parse(restoreFunction(later, { from: TOOL, id: "mail" })).steps[1]).toEqual(stepOf(TOOL));
  expect(restoreFunction("steps: []\n", { from: TOOL, id: "mail" })).toBe("steps: []\n");
});
