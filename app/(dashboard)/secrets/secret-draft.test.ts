import { expect, test } from "vitest";
import { readHosts } from "./secret-draft";

test("hosts are read from lines, commas and spaces", () => {
  expect(readHosts(" api.github.com\n\nb.test:8080, c.test ")).toEqual([
    "api.github.com",
    "b.test:8080",
    "c.test",
  ]);
  expect(readHosts(" \n")).toEqual([]);
});
