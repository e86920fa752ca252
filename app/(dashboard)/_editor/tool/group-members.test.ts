import { expect, it } from "vitest";
import { parse } from "yaml";
import { insertablesBefore } from "./knowledge/insertables";
import { describeProblem } from "./problems/problem-sentence";
import { renameStep } from "./problems/rename-step";
import { restoreFunction, setFunction } from "./problems/set-aside";
import { placeOf, readTool, setValue, stepAt } from "./tool-document";

const TEXT = `slug: t
name: T
parameters: { type: object, properties: { cities: {} } }
steps:
  - id: first
    uses: current_time
  - id: both
    parallel:
      - id: sum # counts
        uses: calculate
        with: { expression: 1 + 1 }
      - id: each
        uses: wait
        forEach: input.cities
        as: city
        with: { seconds: 1 }
output: "{{ steps.both.sum }}"
`;
const tool = readTool(TEXT);
if (tool === null) throw new Error("The tool has a syntax error.");
const SUM = { index: 1, member: 0 };

it("a group's steps have places, and those of other steps as before", () => {
  expect(placeOf(tool, "each")).toEqual({ index: 1, member: 1 });
  expect(placeOf(tool, "both")).toEqual({ index: 1 });
  expect(placeOf(tool, "none")).toBeNull();
  expect(stepAt(tool, SUM)).toMatchObject({ id: "sum", uses: "calculate", parallel: null });
  expect(stepAt(tool, { index: 0, member: 0 })).toBeUndefined();
});

it("a step of a group refers to steps before the group, and to its own item", () => {
  const names = (member: number) => insertablesBefore(tool, { index: 1, member }).map(({ name }) => name);
  expect(names(0)).toEqual(["input.cities", "steps.first"]);
  expect(names(1)).toEqual(["input.cities", "steps.first", "city"]);
});

it("a step of a group gets another function, and gets its own one back", () => {
  const changed = setFunction(TEXT, { place: SUM, uses: "wait", takes: new Set(["seconds"]), aside: {} });
  expect(changed.aside).toEqual({ expression: "1 + 1" });
  expect(parse(changed.text).steps[1].parallel[0]).toEqual({ id: "sum", uses: "wait", with: {} });
  const restored = restoreFunction(changed.text, { from: TEXT, id: "sum" });
  expect(parse(restored)).toEqual(parse(TEXT));
  expect(restored).toContain("- id: sum # counts\n");
});

it("a step of a group is renamed and removed", () => {
  const renamed = renameStep(TEXT, { place: SUM, from: "sum", to: "total", mentions: [], written: null });
  expect(parse(renamed).steps[1].parallel[0].id).toBe("total");
  const removed = parse(setValue(TEXT, ["steps", 1, "parallel", 0], undefined));
  expect(removed.steps[1].parallel.map(({ id }: { id: string }) => id)).toEqual(["each"]);
});

it("a problem in a step of a group names that step and its field", () => {
  const path = ["steps", 1, "parallel", 0, "with", "expression"];
  expect(describeProblem({ line: 1, path, issue: "is required", message: "" }, tool)).toMatchObject({
    place: "sum, expression",
    sentence: "expression is required.",
  });
});
