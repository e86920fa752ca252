import { readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, it } from "vitest";

const IMPORT = /\b(?:from|import)\s*\(?\s*"(@\/|\.[^"]*\/)([^"]+)"/g;

function importsOf(file: string): string[] {
  const matches = readFileSync(file, "utf8").matchAll(IMPORT);
  return [...matches].map(([, start = "", rest = ""]) =>
    start === "@/" ? rest : join(dirname(file), start, rest),
  );
}

/** The folders beside each other that an import connects; null if one file is in a folder above the other. */
function siblings(file: string, imported: string): [string, string] | null {
  const [from, to] = [file.split("/"), imported.split("/")];
  const depth = from.findIndex((part, index) => part !== to[index]);
  if (depth < 1 || depth >= from.length - 1 || depth >= to.length - 1) return null;
  return [from.slice(0, depth + 1).join("/"), to.slice(0, depth + 1).join("/")];
}

it.each(["server", "app"])("no two folders beside each other import each other in %s/", (top) => {
  const arrows = new Map<string, { back: string; example: string }>();
  for (const name of readdirSync(top, { recursive: true, encoding: "utf8" })) {
    if (!/(?<!\.test)\.tsx?$/.test(name)) continue;
    const file = join(top, name);
    for (const imported of importsOf(file)) {
      const [from, to] = siblings(file, imported) ?? [];
      if (from !== to)
        arrows.set(`${from} → ${to}`, { back: `${to} → ${from}`, example: `${file} → ${imported}` });
    }
  }
  expect(arrows.size).toBeGreaterThan(50);
  const mutual = [...arrows.values()].filter(({ back }) => arrows.has(back));
  expect(mutual.map(({ example }) => example)).toEqual([]);
});
