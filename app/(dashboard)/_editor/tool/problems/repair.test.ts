import { expect, test } from "vitest";
import { repairProblem } from "./repair";

const TOOL = `steps:
  - id: late # counts
    uses: calculate
    with: { expression: "{{ steps.order.count }}", value: 1 }
`;
const path = ["steps", 0, "with", "expression"];
const change = { from: "{{ steps.order.count }}", to: "{{ steps.orders.count }}" };

test("a misspelt name is replaced, and the rest of the text stays", () => {
  const repaired = repairProblem(TOOL, { path, repair: { label: "Use orders", change } });
  expect(repaired).toBe(TOOL.replace("steps.order.", "steps.orders."));
});

test("a text that was changed since it was checked stays", () => {
  const later = TOOL.replace("count }}", "total }}");
  expect(repairProblem(later, { path, repair: { label: "Use orders", change } })).toBe(later);
  expect(repairProblem(TOOL, { path: ["steps", 3, "uses"], repair: { label: "Use x", change } })).toBe(TOOL);
});

test("a misspelt key is renamed, and its value stays", () => {
  const misspelt = TOOL.replace("expression:", "expresion:").replace("uses:", "use:");
  const rename = (key: string, to: string, path: (string | number)[]) =>
    repairProblem(misspelt, { path: [...path, key], repair: { label: `Use ${to}`, change: { rename: to } } });
  expect(rename("expresion", "expression", ["steps", 0, "with"])).toBe(TOOL.replace("uses:", "use:"));
  expect(rename("use", "uses", ["steps", 0])).toBe(TOOL.replace("expression:", "expresion:"));
  // Two keys of one name are no YAML.
  expect(rename("use", "id", ["steps", 0])).toBe(misspelt);
});

test("an input that the function does not take is removed", () => {
  const repair = { label: "Remove", change: "remove" } as const;
  expect(repairProblem(TOOL, { path: ["steps", 0, "with", "value"], repair })).toBe(
    TOOL.replace(", value: 1", ""),
  );
});
