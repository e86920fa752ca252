import { expect, test } from "vitest";
import { explainNpmError } from "./install.mjs";

test("the registry's error is shown without npm's prefixes, its stack and the requests before it", () => {
  const output = [
    "npm http fetch GET 404 http://registry.test/zod 12ms",
    "npm error code E404",
    "npm error 404 Not Found - GET http://registry.test/zod",
    "npm error     at ClientRequest.emit (node:events:524:28)",
    "npm error",
  ].join("\n");
  expect(explainNpmError(output)).toBe("code E404\n404 Not Found - GET http://registry.test/zod");
});

test("older versions of npm are understood, and output without an error is shown as it is", () => {
  expect(explainNpmError("npm ERR! code ECONNREFUSED\n")).toBe("code ECONNREFUSED");
  expect(explainNpmError("Segmentation fault\n")).toBe("Segmentation fault\n");
});
