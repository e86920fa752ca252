import { expect, test } from "vitest";
import { nearestName } from "./nearest-name";

test.each([
  ["order", ["orders", "late"], "orders"],
  ["ordres", ["orders"], "orders"],
  ["lat", ["late", "orders"], "late"],
  ["order", ["orders", "orderr"], undefined],
  ["ab", ["ac"], undefined],
  ["orders", ["customers"], undefined],
  ["orders", [], undefined],
])("the name that %j means among %j is %j", (name, known, expected) => {
  expect(nearestName(name, known)).toBe(expected);
});
