import { existsSync, readFileSync } from "node:fs";
import { createElement } from "react";
import { renderToStaticMarkup } from "react-dom/server";
import { expect, it } from "vitest";
import { GuideText } from "./guide-text";
import { GUIDES, guideFor, headingId, resolveLink } from "./guides";

const fileOf = (name: string) => new URL(`../../../docs/${name}.md`, import.meta.url);

it("shows guides that exist", () => {
  expect(GUIDES.filter(({ name }) => !existsSync(fileOf(name)))).toEqual([]);
});

it("has a heading for each link from one guide to a place in another", () => {
  const idsOf = (name: string) =>
    new Set(
      Array.from(readFileSync(fileOf(name), "utf8").matchAll(/^#+ (.+)$/gm), ([, text = ""]) =>
        headingId(text),
      ),
    );
  const broken = GUIDES.flatMap(({ name }) =>
    Array.from(readFileSync(fileOf(name), "utf8").matchAll(/\]\(([^)\s]+)\)/g), ([, href = ""]) => {
      const [, guide = name, anchor] = /^(?:\/docs\/([\w-]+))?#(.+)$/.exec(resolveLink(href) ?? "") ?? [];
      return anchor === undefined || idsOf(guide).has(anchor) ? [] : [`${name}: ${href}`];
    }).flat(),
  );
  expect(broken).toEqual([]);
});

it("leads from a page to the guide that helps there", () => {
  expect(guideFor("/triggers/0193c4aa")).toBe("/docs/webhooks");
  expect(guideFor("/agents")).toBe("/docs/first-agent");
  expect(guideFor("/toolshed")).toBe("/docs/dashboard");
});

it("follows links to guides and sites, and none to other files", () => {
  expect(resolveLink("webhooks.md#sign-a-call")).toBe("/docs/webhooks#sign-a-call");
  expect(resolveLink("https://jsonata.org")).toBe("https://jsonata.org");
  for (const href of ["../SECURITY.md", "engine.md", "javascript:alert(1)", "/runs"])
    expect(resolveLink(href)).toBeNull();
});

it("shows no comments of the files", () => {
  const text = "# Functions\n\n<!-- Generated. Do not edit. -->\n\nA function is one action.\n";
  const html = renderToStaticMarkup(createElement(GuideText, { text }));
  expect(html).toContain("<p>A function is one action.</p>");
  expect(html).not.toContain("Generated");
});
