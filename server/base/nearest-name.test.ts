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
  ["kitten", ["sitting"], undefined],
  ["orders", ["odrers", "order_s_x"], "odrers"],
])("the name that %j means among %j is %j", (name, known, expected) => {
  expect(nearestName(name, known)).toBe(expected);
});

const long = (end: string) => "a".repeat(8_000) + end;
const MANY = Array.from({ length: 3_000 }, (_, n) => `parameter_name_${n}_ab`);
test.each([
  ["long", long("b"), [long("a")]],
  ["one of many", "parametr_name_7_ab", MANY],
])("a name that is %s is not compared", (_case, name, known) => {
  expect(nearestName(name, known)).toBeUndefined();
});
