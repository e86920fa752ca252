import { expect, test } from "vitest";
import { startOfFolded } from "./long-text";

test("renders only the visible part of a folded text, without splitting a character", () => {
  expect(startOfFolded("short")).toBe("short");
  expect(startOfFolded("x".repeat(100_000))).toHaveLength(3_000);
  expect(startOfFolded(`${"x".repeat(2_999)}😀 and on`)).toBe("x".repeat(2_999));
  expect(startOfFolded(`${"x".repeat(2_998)}😀 and on`)).toBe(`${"x".repeat(2_998)}😀`);
});
