import { expect, test } from "vitest";
import { hostsError, labelsOf, readHosts } from "./secret-draft";

test("hosts are read from lines, commas and spaces", () => {
  expect(readHosts(" api.github.com\n\nb.test:8080, c.test ")).toEqual([
    "api.github.com",
    "b.test:8080",
    "c.test",
  ]);
  expect(readHosts(" \n")).toEqual([]);
});

test("an error about a host names it, and comes before one about the list", () => {
  const hosts = ["a.test", "https://b.test"];
  expect(labelsOf(hosts)["/hosts/1"]).toBe("https://b.test");
  const at = (known: Record<string, string>) => (path: string) => known[path];
  expect(hostsError(at({ "/hosts/1": "wrong", "/hosts": "list" }), hosts)).toBe("wrong");
  expect(hostsError(at({ "/hosts": "list" }), hosts)).toBe("list");
  expect(hostsError(at({}), hosts)).toBeUndefined();
});
