import { expect, test } from "vitest";
import { chunk } from "./chunk";

test("splits a large request into parts, complete and in order", () => {
  const items = Array.from({ length: 401 }, (_, n) => n);
  const pieces = chunk(items, 200);
  expect(pieces.map((piece) => piece.length)).toEqual([200, 200, 1]);
  expect(pieces.flat()).toEqual(items);
  expect(chunk([], 200)).toEqual([]);
});
