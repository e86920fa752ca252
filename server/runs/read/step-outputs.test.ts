import { expect, test } from "vitest";
import { toolConfiguration } from "@/server/work/agent/definition";
import { outputsOf } from "./step-outputs";

const uses = "f";
const configuration = (pinned?: object) =>
  toolConfiguration.parse({
    kind: "tool",
    name: "Tool",
    definition: {
      steps: [
        { id: "a", uses },
        { id: "skipped", uses, if: "false" },
        { id: "each", uses, forEach: "input.list" },
        { id: "none", uses, forEach: "[]" },
        {
          id: "both",
          parallel: [
            { id: "x", uses },
            { id: "y", uses },
          ],
        },
        { id: "last", uses },
      ],
    },
    pinned,
  });
const outputs = (calls: [key: string, output: unknown][], { isCompleted = false, pinned = {} } = {}) =>
  Object.fromEntries(
    outputsOf(configuration(pinned), {
      calls: calls.map(([key, output]) => ({
        key,
        output: output === undefined ? null : JSON.stringify(output),
      })),
      isCompleted,
    }),
  );

test("the outputs are those that later steps read", () => {
  const calls: [string, unknown][] = [
    ["a", 1],
    ["each[0]", 2],
    ["each[1]", 3],
    ["x", 4],
    ["y", 5],
    ["last", undefined],
  ];
  const earlier = { a: 1, skipped: null, each: [2, 3], none: [], x: 4, y: 5, both: { x: 4, y: 5 } };
  expect(outputs(calls)).toEqual(earlier);
});

test("what failed or was not reached has none", () => {
  expect(
    outputs([
      ["a", 1],
      ["each[0]", 2],
      ["each[1]", undefined],
    ]),
  ).toEqual({ a: 1, skipped: null });
});

test("pinned outputs stay known", () => {
  const pinned = { a: 7, skipped: null, each: [], none: [], both: { x: 1, y: 2 } };
  expect(outputs([["last", "end"]], { isCompleted: true, pinned })).toEqual({
    ...pinned,
    x: 1,
    y: 2,
    last: "end",
  });
});
