import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { expect, test } from "vitest";

/** The pages of docs/ and the links between them. */

const ROOT = join(import.meta.dirname, "..");
const PAGES = readdirSync(join(ROOT, "docs"), { recursive: true, encoding: "utf8" })
  .filter((name) => name.endsWith(".md"))
  .map((name) => join("docs", name));

/** The files and folders that a page links to, relative to the repository's root. */
function linksOf(page: string): string[] {
  const text = readFileSync(join(ROOT, page), "utf8").replace(/^```[\s\S]*?^```$/gm, "");
  return [...text.matchAll(/\]\(([^)\s]+)\)/g)]
    .map(([, target = ""]) => target.replace(/#.*$/, ""))
    .filter((target) => target !== "" && !/^[a-z]+:/.test(target))
    .map((target) => join(dirname(page), target));
}

function reachableFrom(start: string): Set<string> {
  const seen = new Set([start]);
  for (const page of seen) {
    for (const target of linksOf(page)) {
      if (target.endsWith(".md") && existsSync(join(ROOT, target))) seen.add(target);
    }
  }
  return seen;
}

test("every page of docs/ can be reached from the README", () => {
  const reachable = reachableFrom("README.md");
  expect(PAGES.filter((page) => !reachable.has(page))).toEqual([]);
});

test.each(["README.md", "CONTRIBUTING.md", "SECURITY.md", ...PAGES])(
  "the links of %s lead somewhere",
  (page) => {
    const dead = linksOf(page).filter((target) => !existsSync(join(ROOT, target)));
    expect(dead.map((target) => relative(dirname(page), target))).toEqual([]);
  },
);

test.each(["README.md", "CONTRIBUTING.md", "SECURITY.md", ...PAGES])(
  "the anchors that %s links to exist",
  (page) => {
    const text = readFileSync(join(ROOT, page), "utf8");
    const dead = [...text.matchAll(/\]\(([^)\s#]*)#([^)\s]+)\)/g)].filter(([, target = "", anchor = ""]) => {
      if (/^[a-z]+:/.test(target)) return false;
      const file = join(ROOT, target === "" ? page : join(dirname(page), target));
      if (!existsSync(file) || !statSync(file).isFile()) return true;
      const headings = [...readFileSync(file, "utf8").matchAll(/^#+ (.+)$/gm)].map(([, heading = ""]) =>
        heading
          .toLowerCase()
          .replace(/[^\p{L}\p{N}_ -]/gu, "")
          .replaceAll(" ", "-"),
      );
      return !headings.includes(anchor);
    });
    expect(dead.map(([link]) => link)).toEqual([]);
  },
);
