import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { diffLines, nearChanges } from "./diff";

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

  it("reproduces both texts, whatever they are", () => {
    const text = fc
      .array(fc.constantFrom("a", "b", "c", ""), { maxLength: 12 })
      .map((lines) => lines.join("\n"));
    fc.assert(
      fc.property(text, text, (left, right) => {
        expect(rebuild(left, right)).toEqual({ left, right });
      }),
    );
  });

  it("gives up on texts with nothing in common", () => {
    const many = (letter: string) =>
      Array.from({ length: 2_000 }, (_, index) => `${letter}${index}`).join("\n");
    expect(diffLines(many("a"), many("b"))).toBeNull();
  });

  it("finds few changes among many lines", () => {
    const lines = Array.from({ length: 200_000 }, (_, index) => `${index % 7},`);
    const left = lines.join("\n");
    const right = lines.toSpliced(150_000, 1).toSpliced(100, 0, "new").join("\n");
    const changed = diffLines(left, right)?.filter((line) => line.kind !== "same");
    expect(changed).toEqual([
      { kind: "right", text: "new" },
      { kind: "left", text: "4," },
    ]);
  });
});

it("keeps two lines around a change and marks omissions once on each side", () => {
  const lines = diffLines("1\n2\n3\n4\n5\n6\n7\n8", "1\n2\n3\n4\nfive\n6\n7\n8");
  expect(nearChanges(lines ?? []).map((line) => line?.text ?? null)).toEqual([
    null,
    "3",
    "4",
    "5",
    "five",
    "6",
    "7",
    null,
  ]);
});
