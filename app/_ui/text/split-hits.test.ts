import { expect, it } from "vitest";
import { splitHits } from "./split-hits";

it("splits a text into hits and the rest, without loss", () => {
  expect(splitHits("one two one", /one/u)).toEqual(["", "one", " two ", "one", ""]);
  expect(splitHits("none", /x/u)).toEqual(["none"]);
  const many = "a b ".repeat(1_000);
  expect(splitHits(many, /a/u)).toHaveLength(401);
  expect(splitHits(many, /a/u).join("")).toBe(many);
});
