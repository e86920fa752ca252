import { expect, test } from "vitest";
import { renameStep } from "./rename-step";

const TOOL = `steps:
  - id: orders # the first
    uses: current_time
  - id: late
    uses: calculate
    with: { expression: "1 + {{ steps.orders.a & steps.\`orders\`.b }}" }
output: "{{ steps.orders }}" # all
`;
const MENTIONS = [
  {
    path: ["steps", 1, "with", "expression"],
    text: "1 + {{ steps.orders.a & steps.`orders`.b }}",
    names: [
      { from: 13, to: 19 },
      { from: 30, to: 38 },
    ],
  },
  { path: ["output"], text: "{{ steps.orders }}", names: [{ from: 9, to: 15 }] },
];
const rename = (text: string, from: string, to: string, written: string | null = null) =>
  renameStep(text, { place: { index: 0 }, from, to, mentions: MENTIONS, written });

test("a step is renamed with everything that names it, and comments stay", () => {
  const renamed = rename(TOOL, "orders", "open");
  expect(renamed).toContain("- id: open # the first");
  expect(renamed).toContain("1 + {{ steps.open.a & steps.open.b }}");
  expect(renamed).toContain('output: "{{ steps.open }}" # all');
  expect(rename(rename(renamed, "open", "", "open"), "", "my step", "open")).toContain("steps.`my step` }}");
});

test("the name of another step in between changes nothing of that step", () => {
  const between = rename(TOOL.replace("1 + ", "{{ steps.late }} + "), "orders", "late");
  expect(between).toContain("{{ steps.late }} + {{ steps.orders.a");
  expect(rename(between, "late", "later", "late")).toContain('"{{ steps.later }}" # all');
});

test("a step that was moved meanwhile is not renamed", () => {
  expect(rename(TOOL, "other", "open")).toBe(TOOL);
});
