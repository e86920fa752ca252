import { expect, test } from "vitest";
import { chunk, MAX_ASKED, pagesUpTo, questionAfter, stillWaiting, waitingAfter } from "./new-runs";

const rows = (...ids: string[]) => ids.map((id) => ({ id }));
const view = { shown: rows("f", "d", "b"), hasOlder: true };

test("checks changed runs that could belong into the shown rows, and no others", () => {
  expect(questionAfter(["f", "e", "a"], view, 0)).toEqual({ about: "some", ids: ["e"] });
  expect(questionAfter(["f", "a"], view, 0)).toBeNull();
  expect(questionAfter(["a"], { ...view, hasOlder: false }, 0)).toEqual({ about: "some", ids: ["a"] });
});

test("checks all runs when the changes are unknown, too many or too old", () => {
  const all = { about: "all", after: "b", limit: 103 };
  expect(questionAfter([], view, 0)).toEqual(all);
  expect(questionAfter(["f"], view, 60_000)).toEqual(all);
  expect(
    questionAfter(
      Array.from({ length: MAX_ASKED + 1 }, (_, n) => `e${n}`),
      view,
      0,
    ),
  ).toEqual(all);
  expect(questionAfter([], { shown: [], hasOlder: false }, 0)).toEqual({
    about: "all",
    after: null,
    limit: 100,
  });
});

test("keeps matching runs waiting, and drops those that no longer match", () => {
  const some = waitingAfter(new Set(["g"]), { about: "some", ids: ["e", "g"] }, ["e"]);
  expect(stillWaiting(some, view)).toEqual(["e"]);
  expect(stillWaiting(waitingAfter(some, { about: "some", ids: ["g"] }, ["g"]), view)).toEqual(["g", "e"]);
  const all = waitingAfter(some, { about: "all", after: "b", limit: 103 }, ["g", "f", "d", "c", "b"]);
  expect(stillWaiting(all, view)).toEqual(["g", "c"]);
  // Loaded in the meantime.
  expect(stillWaiting(all, { shown: rows("g", "f", "d", "c", "b"), hasOlder: true })).toEqual([]);
});

test("reloads pages down to the oldest waiting run", () => {
  const pages = [{ items: rows("f", "e") }, { items: rows("d", "b") }, { items: rows("a") }];
  expect([pagesUpTo("g", pages), pagesUpTo("c", pages), pagesUpTo("0", pages)]).toEqual([1, 2, 3]);
});

test("splits a large request into parts, complete and in order", () => {
  const items = Array.from({ length: 401 }, (_, n) => n);
  const pieces = chunk(items, 200);
  expect(pieces.map((piece) => piece.length)).toEqual([200, 200, 1]);
  expect(pieces.flat()).toEqual(items);
  expect(chunk([], 200)).toEqual([]);
});
