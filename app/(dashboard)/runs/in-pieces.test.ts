import { expect, test } from "vitest";
import { inPieces } from "./in-pieces";

test("more than can be asked for at once is asked for in pieces, all of it and in its order", () => {
  const items = Array.from({ length: 401 }, (_, n) => n);
  const pieces = inPieces(items, 200);
  expect(pieces.map((piece) => piece.length)).toEqual([200, 200, 1]);
  expect(pieces.flat()).toEqual(items);
  expect(inPieces([], 200)).toEqual([]);
});
