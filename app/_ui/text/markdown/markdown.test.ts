import { createElement } from "react";
import { renderToStaticMarkup } from "react-dom/server";
import { describe, expect, it } from "vitest";
import { Markdown } from "./markdown";

const DOT =
  "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

const render = (text: string, folded = false) =>
  renderToStaticMarkup(createElement(Markdown, { text, folded }));

describe("Markdown that a model wrote", () => {
  it("labels the checkboxes of a task list", () => {
    const html = render("- [x] count\n- [ ] sum");
    expect(html).toContain('aria-label="done"');
    expect(html).toContain('aria-label="not done"');
  });

  it.each([
    "javascript:alert(1)",
    "JaVaScRiPt:alert(1)",
    "vbscript:x",
    "data:text/html,x",
    "/keys",
    "//a.test",
    "#top",
    "",
  ])("does not link %j", (address) => {
    const html = render(`before [words](<${address}>) after`);
    expect(html).toContain("before words after");
    expect(html).not.toContain("<a");
  });

  it.each(["https://a.test/x?y=1", "http://a.test/", "mailto:a@b.test"])(
    "opens %s in a new tab",
    (address) => {
      expect(render(`[words](${address})`)).toContain(
        `<a href="${address}" rel="noreferrer noopener nofollow" target="_blank">words</a>`,
      );
    },
  );

  it("keeps footnotes in the page, separate from those of other answers", () => {
    const html = render("Said[^1].\n\n[^1]: A note.");
    const [, target = "-"] = /<sup><a href="#([^"]+)"/.exec(html) ?? [];
    expect(html).toContain(`<li id="${target}">`);
    expect(html).not.toContain("_blank");
    expect(html).not.toContain("footnote-label");
    expect(target).not.toContain("user-content");
  });

  it("starts headings below those of the page", () => {
    expect(render("# one\n\n## two\n\n### three\n\n###### six").match(/<h\d/g)).toEqual([
      "<h3",
      "<h4",
      "<h5",
      "<h6",
    ]);
  });

  it("aligns the columns of tables without a style attribute", () => {
    const html = render("| a | b |\n|:-:|--:|\n| 1 | 2 |");
    expect(html).toContain('<td data-align="right">2</td>');
    expect(html).toContain('<th data-align="center">a</th>');
    expect(html).not.toContain("style=");
  });

  it("shows embedded pictures, no documents, and loads none from other servers", () => {
    expect(render(`![dot](${DOT})`)).toMatch(/<img [^>]*alt="dot"[^>]* src="data:image\/png;base64,iVBOR/);
    expect(render("![evil](data:image/svg+xml;base64,PHN2Zz4=)")).toContain("<p>evil</p>");
    expect(render("![far](https://a.test/x.png)")).toContain('<a href="https://a.test/x.png"');
    expect(render("[![far](https://a.test/x.png)](https://b.test/)")).toMatch(
      /<a href="https:\/\/b.test\/"[^>]*>far<\/a>/,
    );
  });

  it("leaves pictures in code unchanged, and out of a folded text that is cut in one", () => {
    expect(render(`\`![dot](${DOT})\``)).toContain(`<code>![dot](${DOT})</code>`);
    expect(render(`Here: ![dot](${DOT.slice(0, 60)}`, true)).toContain("<p>Here:</p>");
  });

  it("renders the first part of a long text in bounded time", () => {
    const html = render("A paragraph of some words.\n\n".repeat(100_000));
    expect(html.length).toBeGreaterThan(4_000);
    expect(html.length).toBeLessThan(20_000);
  });

  it.each(["> ", "- ", "1. ", "[", "*a ", "> - "])("survives thousands of %j", (part) => {
    expect(render(part.repeat(2_500))).toContain("prose");
  });
});
