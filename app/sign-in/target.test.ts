import { expect, test } from "vitest";
import { targetAfterSignIn } from "./target";

const origin = "https://stepwell.test";
const after = (to: string) => targetAfterSignIn(`?to=${encodeURIComponent(to)}`, origin);

test("a page of the dashboard is followed", () => {
  expect(after("/runs/1?tab=steps#3")).toBe(`${origin}/runs/1?tab=steps#3`);
  expect(targetAfterSignIn("", origin)).toBe("/runs");
});

test.each([
  "//evil.test/",
  "/\\evil.test/",
  "/\t/evil.test/",
  "/\n//evil.test/",
  "\t//evil.test/",
  "https://evil.test/",
  "javascript:alert(1)",
  "//",
  "/.//evil.test/",
  "/x/..//evil.test/",
])("%j leads nowhere else", (to) => {
  const target = after(to);
  expect(new URL(target, origin).origin).toBe(origin);
});
