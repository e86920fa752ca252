import { expect, test } from "vitest";
import { signInAddress, targetAfterSignIn } from "./sign-in-target";

test("follows a page of the dashboard", () => {
  expect(targetAfterSignIn("/runs/1?tab=steps#3")).toBe("/runs/1?tab=steps#3");
  expect(targetAfterSignIn(null)).toBe("/");
  expect(targetAfterSignIn("")).toBe("/");
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
  "/%2e//evil.test/",
  "http://stepwell.invalid//evil.test/",
])("does not follow %j", (to) => {
  const target = targetAfterSignIn(to);
  const origin = "https://stepwell.test";
  expect(new URL(target, origin).origin).toBe(origin);
  expect(target).toMatch(/^\/(?!\/)/);
});

test("the sign-in page returns to the requested page", () => {
  expect(signInAddress("/runs/1?step=2")).toBe("/sign-in?to=%2Fruns%2F1%3Fstep%3D2");
  expect(signInAddress("/credits?kind=charge&_rsc=1abc")).toBe("/sign-in?to=%2Fcredits%3Fkind%3Dcharge");
  expect(signInAddress("/runs")).toBe("/sign-in?to=%2Fruns");
  for (const home of ["/", "/?_rsc=1", null]) expect(signInAddress(home)).toBe("/sign-in");
  expect(targetAfterSignIn(new URLSearchParams(signInAddress("/a?b=c&d").split("?")[1]).get("to"))).toBe(
    "/a?b=c&d=",
  );
});
