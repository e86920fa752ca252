import { readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, it } from "vitest";

type Arrow = { from: string; to: string; example: string };

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

function circles(arrows: readonly Arrow[]): readonly Arrow[] {
  const left = arrows.filter(
    ({ from, to }) => arrows.some((each) => each.from === to) && arrows.some((each) => each.to === from),
  );
  return left.length === arrows.length ? left : circles(left);
}

it.each(["server", "app", "scripts", "inngest", "serve", "tools", "testing"])(
  "no folders beside each other import each other in a circle in %s/",
  (top) => {
    const arrows = new Map<string, Arrow>();
    for (const name of readdirSync(top, { recursive: true, encoding: "utf8" })) {
      if (!/(?<!\.test)\.(tsx?|mjs)$/.test(name)) continue;
      const file = join(top, name);
      for (const imported of importsOf(file)) {
        const [from = "", to = ""] = siblings(file, imported) ?? [];
        if (from !== to) arrows.set(`${from} → ${to}`, { from, to, example: `${file} → ${imported}` });
      }
    }
    if (top === "server") expect(arrows.size).toBeGreaterThan(50);
    expect(circles([...arrows.values()]).map(({ example }) => example)).toEqual([]);
  },
);
