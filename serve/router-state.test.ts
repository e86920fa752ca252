import { parseAndValidateFlightRouterState } from "next/dist/server/app-render/parse-and-validate-flight-router-state";
import { expect, test } from "vitest";
import { isRouterState } from "./router-state";

const page = ["__PAGE__", {}];
const STATES: [boolean, unknown][] = [
  [true, ["", { children: page }]],
  [
    true,
    [
      "",
      { children: ["runs", { children: [["runId", "01a2", "d", null], { children: page }] }] },
      null,
      null,
      16,
    ],
  ],
  [true, [["path", "a/b", "oc", ["x"]], {}, ["/runs", ""], "refetch", 1, "x"]],
  [true, [["path", "a", "ci(..)(..)", []], {}, null, "metadata-only"]],
  [true, [["path", "a", "di(...)", []], {}, null, "inside-shared-layout"]],
  [false, "x"],
  [false, [1]],
  [false, [""]],
  [false, ["", { children: [1, {}] }]],
  [false, [["a", "b", "e", null], {}]],
  [false, ["", {}, 1]],
  [false, ["", {}, null, "other"]],
  [false, ["", {}, null, null, "1"]],
  [false, ["", {}, null, null, 1, 1]],
  [false, ["", {}, null, null, 1, "x", 1]],
];

test.each(STATES.map(([valid, value]) => [valid, encodeURIComponent(JSON.stringify(value))] as const))(
  "%s: %s, as Next says",
  (valid, header) => {
    expect(isRouterState(header)).toBe(valid);
    const parse = () => parseAndValidateFlightRouterState(header);
    if (valid) expect(parse()).toEqual(JSON.parse(decodeURIComponent(header)));
    else expect(parse).toThrow();
  },
);

test.each([
  ["no text", ""],
  ["a malformed escape", "%E0%A4"],
  ["no JSON", "{"],
  ["an open tree", '["",{"c":'.repeat(1_000)],
])("%s is none", (_what, header) => {
  expect(isRouterState(header)).toBe(false);
});
