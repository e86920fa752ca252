import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { diffLines } from "./diff";

const rebuild = (left: string, right: string) => {
  const lines = diffLines(left, right);
  return {
    left: lines
      ?.filter((line) => line.kind !== "right")
      .map((line) => line.text)
      .join("\n"),
    right: lines
      ?.filter((line) => line.kind !== "left")
      .map((line) => line.text)
      .join("\n"),
  };
};

describe("diffLines", () => {
  it("finds the one line that differs", () => {
    expect(diffLines("a\nb\nc", "a\nx\nc")).toEqual([
      { kind: "same", text: "a" },
      { kind: "left", text: "b" },
      { kind: "right", text: "x" },
      { kind: "same", text: "c" },
    ]);
  });

  it("gives both texts back, whatever they are", () => {
    const text = fc
      .array(fc.constantFrom("a", "b", "c", ""), { maxLength: 12 })
      .map((lines) => lines.join("\n"));
    fc.assert(
      fc.property(text, text, (left, right) => {
        expect(rebuild(left, right)).toEqual({ left, right });
      }),
    );
  });

  it("gives up on texts that share nothing", () => {
    const many = (letter: string) =>
      Array.from({ length: 2_000 }, (_, index) => `${letter}${index}`).join("\n");
    expect(diffLines(many("a"), many("b"))).toBeNull();
  });
});
