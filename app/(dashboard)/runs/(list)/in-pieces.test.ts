import { expect, test } from "vitest";
import { inPieces } from "./in-pieces";

test("splits a large request into parts, complete and in order", () => {
  const items = Array.from({ length: 401 }, (_, n) => n);
  const pieces = inPieces(items, 200);
  expect(pieces.map((piece) => piece.length)).toEqual([200, 200, 1]);
  expect(pieces.flat()).toEqual(items);
  expect(inPieces([], 200)).toEqual([]);
});
