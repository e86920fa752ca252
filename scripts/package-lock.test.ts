import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { z } from "zod";

const versions = z.record(z.string(), z.string()).default({});
const manifest = z.object({ dependencies: versions, devDependencies: versions });
const entry = z.object({
  ...manifest.shape,
  version: z.string().optional(),
  resolved: z.string().optional(),
  optionalDependencies: versions,
});
const lock = z
  .object({ packages: z.record(z.string(), entry) })
  .parse(JSON.parse(readFileSync("package-lock.json", "utf8")));

test("the lock contains the optional packages of every platform", () => {
  const locked = new Set(Object.keys(lock.packages).map((path) => path.split("node_modules/").at(-1)));
  const missing = Object.values(lock.packages).flatMap(({ optionalDependencies }) =>
    Object.keys(optionalDependencies).filter((name) => !locked.has(name)),
  );
  expect(missing).toEqual([]);
});

test("the lock names no registry", () => {
  const resolved = Object.entries(lock.packages).filter(([, { resolved }]) => resolved !== undefined);
  expect(resolved).toEqual([]);
});

test("package.json pins every package to the version in the lock", () => {
  const { dependencies, devDependencies } = manifest.parse(JSON.parse(readFileSync("package.json", "utf8")));
  const pinned = { ...dependencies, ...devDependencies };
  const root = lock.packages[""];
  const locked = Object.keys(pinned).map((name) => [name, lock.packages[`node_modules/${name}`]?.version]);
  expect(pinned).toEqual(Object.fromEntries(locked));
  expect({ ...root?.dependencies, ...root?.devDependencies }).toEqual(pinned);
});
