import { expect, test } from "vitest";
import { explainNpmError } from "./install.mjs";

test("shows the registry's error without npm's prefixes, stack and requests", () => {
  const output = [
    "npm http fetch GET 404 http://registry.test/zod 12ms",
    "npm error code E404",
    "npm error 404 Not Found - GET http://registry.test/zod",
    "npm error     at ClientRequest.emit (node:events:524:28)",
    "npm error",
  ].join("\n");
  expect(explainNpmError(output)).toBe("code E404\n404 Not Found - GET http://registry.test/zod");
});

test("understands older versions of npm, and shows output without an error unchanged", () => {
  expect(explainNpmError("npm ERR! code ECONNREFUSED\n")).toBe("code ECONNREFUSED");
  expect(explainNpmError("Segmentation fault\n")).toBe("Segmentation fault\n");
});
