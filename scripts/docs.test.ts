import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { expect, test } from "vitest";
import { runCommandLine } from "@/scripts/cli/command-line";

const ROOT = join(import.meta.dirname, "..");
const PAGES = readdirSync(join(ROOT, "docs"), { recursive: true, encoding: "utf8" })
  .filter((name) => name.endsWith(".md"))
  .map((name) => join("docs", name));

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

test.each(["CONTRIBUTING.md", ...PAGES])("the files and folders that %s names exist", (page) => {
  const text = readFileSync(join(ROOT, page), "utf8");
  const named = text.matchAll(
    /`((?:app|client|client-python|e2e|inngest|prisma|scripts|serve|server|testing)\/[^`\s*,]*(?:\/|\.[a-z]+))`/g,
  );
  const missing = [...named].map(([, path = ""]) => path).filter((path) => !existsSync(join(ROOT, path)));
  // The guide to a first change adds two files.
  expect(missing.filter((path) => !path.startsWith("server/work/functions/word-count."))).toEqual([]);
});

test("every command that a page or .env.example names exists", async () => {
  let help = "";
  const unused = async () => "";
  const terminal = {
    out: (text: string) => {
      help += text;
    },
    err: () => {},
    readPassword: unused,
    readLine: unused,
    readSecret: unused,
    readInput: async () => new Uint8Array(),
    caller: { folder: "." },
    closed: new AbortController().signal,
  };
  await runCommandLine(["help"], terminal, () => {
    throw new Error("Help needs no services.");
  });
  // A command's words are in small letters, its parameters are not.
  const listed = [...help.matchAll(/^ {2}([a-z-]+(?: [a-z-]+)*)/gm)].map(([, name]) => name);
  const commands = [...listed, "help"];
  const named = [".env.example", "README.md", "CONTRIBUTING.md", "SECURITY.md", ...PAGES].flatMap((page) =>
    [...readFileSync(join(ROOT, page), "utf8").matchAll(/stepwell -- ([a-z][^`\n]*)/g)].map(
      ([, call = ""]) => `${page}: ${call}`,
    ),
  );
  expect(named.length).toBeGreaterThan(20);
  const isKnown = (call: string) => commands.some((name) => `${call} `.includes(`: ${name} `));
  expect(named.filter((call) => !isKnown(call))).toEqual([]);
});

test("no docstring begins with a question word", () => {
  const folders = [
    "app",
    "client/src",
    "e2e",
    "inngest",
    "prisma",
    "scripts",
    "serve",
    "server",
    "testing",
    "tools",
  ];
  const files = folders.flatMap((folder) =>
    readdirSync(join(ROOT, folder), { recursive: true, encoding: "utf8" }).map((file) => join(folder, file)),
  );
  const sources = files.filter((file) => /\.tsx?$/.test(file) && !/generated|node_modules/.test(file));
  const found = sources.flatMap((file) => {
    const docstring = /\/\*\*[\s*]+(What|How|Whether|Why|Where|Whose|Who|Which)\b.*/g;
    const texts = readFileSync(join(ROOT, file), "utf8").match(docstring) ?? [];
    return texts.map((text) => `${file}: ${text}`);
  });
  expect(found).toEqual([]);
});
