import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";

const DEFINITION = /\bdefine(?:Query|Command)\(\s*(?:"([^"]+)"|`([^`]+)`)/g;

function namesIn(text: string): string[] {
  return [...text.matchAll(DEFINITION)].map(([, plain, composed]) => plain ?? composed ?? "");
}

function definedNames(): { name: string; file: string }[] {
  return ["app", "server", "inngest", "scripts", "serve", "prisma", "testing", "tools"].flatMap((folder) =>
    readdirSync(folder, { recursive: true, encoding: "utf8" })
      .map((file) => join(folder, file))
      .filter((file) => /\.tsx?$/.test(file) && !/\.test\.ts$|\/generated\//.test(file))
      .flatMap((file) => namesIn(readFileSync(file, "utf8")).map((name) => ({ name, file }))),
  );
}

it("each statement has its own name: one connection rejects two texts under the same name", () => {
  const defined = definedNames();
  expect(defined.length).toBeGreaterThan(100);
  const shared = defined.filter(({ name }, index) =>
    defined.some((other, at) => at !== index && other.name === name),
  );
  expect(shared).toEqual([]);
});

it.each([
  ['defineQuery(\n  "read-a",', ["read-a"]],
  ['defineCommand("a", text); defineCommand("b", text)', ["a", "b"]],
  ["defineCommand(`reseal`, text)", ["reseal"]],
])("%j defines %j", (text, names) => {
  expect(namesIn(text)).toEqual(names);
});
