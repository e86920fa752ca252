import { createElement } from "react";
import { renderToStaticMarkup } from "react-dom/server";
import { describe, expect, it } from "vitest";
import { Markdown } from "./markdown";

const render = (text: string) => renderToStaticMarkup(createElement(Markdown, { text }));

describe("Markdown that a model wrote", () => {
  it("names the boxes of a list of tasks", () => {
    const html = render("- [x] count\n- [ ] sum");
    expect(html).toContain('aria-label="done"');
    expect(html).toContain('aria-label="not done"');
  });
});
