import { expect, it } from "vitest";
import { diffLines } from "./diff";
import { nearChanges } from "./near-changes";

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
