import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { z } from "zod";

const versions = z.record(z.string(), z.string()).default({});
const manifest = z.object({
  dependencies: versions,
  devDependencies: versions,
  optionalDependencies: versions,
});
const entry = z.object({
  ...manifest.shape,
  version: z.string().optional(),
  resolved: z.string().optional(),
});
const lockSchema = z.object({ packages: z.record(z.string(), entry) });

const read = (file: string): unknown => JSON.parse(readFileSync(file, "utf8"));

describe.each(["", "tools/node/20.19/", "tools/node/24/"])("the packages of ./%s", (folder) => {
  const lock = lockSchema.parse(read(`${folder}package-lock.json`));

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
    const pinned = pinnedIn(manifest.parse(read(`${folder}package.json`)));
    const root = lock.packages[""];
    const locked = Object.keys(pinned).map((name) => [name, lock.packages[`node_modules/${name}`]?.version]);
    expect(pinned).toEqual(Object.fromEntries(locked));
    expect(root && pinnedIn(root)).toEqual(pinned);
  });
});

function pinnedIn({ dependencies, devDependencies, optionalDependencies }: z.infer<typeof manifest>) {
  return { ...dependencies, ...devDependencies, ...optionalDependencies };
}

test.each(["20.19", "24"])("Node %s from npm is a release of that line", (line) => {
  const { optionalDependencies } = manifest.parse(read(`tools/node/${line}/package.json`));
  for (const version of Object.values(optionalDependencies))
    expect(version.startsWith(`${line}.`)).toBe(true);
});

test("CI tests the oldest supported Node, and the one of .nvmrc", () => {
  const { engines } = z.object({ engines: z.object({ node: z.string() }) }).parse(read("package.json"));
  const tested = readFileSync(".ci/run", "utf8").matchAll(/on-node\.sh (\S+)/g);
  const wanted = [engines.node.replace(">=", ""), readFileSync(".nvmrc", "utf8").trim()];
  expect(Array.from(tested, ([, version]) => version)).toEqual(wanted);
});
