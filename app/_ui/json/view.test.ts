import { createElement } from "react";
import { renderToStaticMarkup } from "react-dom/server";
import { describe, expect, it } from "vitest";
import type { Json } from "@/server/base/json/json";
import { JsonView } from "./view";

const DOT =
  "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

const draw = (value: Json, { tools = true, searchText = "" } = {}) =>
  renderToStaticMarkup(createElement(JsonView, { text: JSON.stringify(value), tools, searchText }));
const people = [
  { name: "Ada", age: 36 },
  { name: "Grace", age: 85 },
];

describe("a JSON document", () => {
  it("offers its tools only where they are useful", () => {
    expect(draw({})).not.toContain("<button");
    expect(draw(42)).not.toContain("<button");
    expect(draw({ number: 2 })).toContain(">Raw</button>");
    expect(draw({ number: 2 })).not.toContain("<input");
    expect(draw({ note: "word ".repeat(50) })).toContain('aria-label="Search this document"');
    expect(draw("two\nlines")).toContain(">Raw</button>");
    expect(draw({ number: 2 }, { tools: false })).not.toContain(">Raw</button>");
  });

  it("is searched from the start for the reader's text, however short", () => {
    expect(draw({ city: "Lisbon" }, { searchText: "lisb" })).toMatch(/<mark[^>]*>Lisb<\/mark>on/);
    expect(draw({ city: "Lisbon" }, { searchText: "Porto" })).not.toContain("<input");
  });

  it.each<[string, Json]>([
    ["at the top", people],
    ["in an answer of another service", { status: 200, headers: { a: "b" }, body: people }],
    ["in a page of a list", { total: 2, page: 1, items: people }],
    ["with a null among them", [...people, null]],
  ])("shows records as a table: %s", (_, value) => {
    const html = draw(value);
    expect(html).toMatch(/<table.*<th[^>]*>name<\/th>.*Grace/);
    expect(html).toContain('aria-pressed="true"');
  });

  it("shows a single record, or dissimilar ones, as a tree with a table on demand", () => {
    for (const value of [[{ a: 1, b: 2 }], [{ a: 1 }, { b: 2 }, { c: 3 }]]) {
      const html = draw(value);
      expect(html).not.toContain("<table");
      expect(html).toContain('aria-label="Show the document as a table" aria-pressed="false"');
    }
  });

  it("narrows a table to the rows with hits", () => {
    const html = draw({ items: people }, { searchText: "grace" });
    expect(html).toContain("<mark");
    expect(html).toMatch(/<table.*85/);
    expect(html).not.toContain("Ada");
  });

  it("renders 100 of 10,000 records at once", () => {
    const html = draw(Array.from({ length: 10_000 }, (_, id) => ({ id, name: `record ${id}` })));
    expect(html.match(/<tr/g)).toHaveLength(101);
    expect(html).toContain("1–100 of 10,000 rows");
  });

  it("summarizes a nested value in a cell, which opens", () => {
    const html = draw([
      { id: 1, name: "a", of: { x: 1, y: [1, 2] } },
      { id: 2, name: "b", of: null },
    ]);
    expect(html).toContain("{ x: 1, y: [2] }");
  });

  it("shows pictures of any size, and never a document as a picture", () => {
    expect(draw({ dot: DOT })).toContain(`src="${DOT}"`);
    expect(draw({ dot: DOT })).toContain("image/png, ");
    expect(draw(DOT)).toContain("<img");
    expect(draw({ evil: "data:image/svg+xml;base64,PHN2Zz4=" })).not.toContain("<img");
    expect(draw({ evil: `${DOT}" onerror="x` })).not.toContain("<img");
  });

  it("puts texts in quotes that are not part of them", () => {
    expect(draw({ word: "plain" })).toContain("&quot;plain&quot;");
    expect(draw({ error: '"1 / 0" is wrong' })).toContain("&#x27;&quot;1 / 0&quot; is wrong&#x27;");
    expect(draw({ word: `"it's"` })).toContain("`&quot;it&#x27;s&quot;`");
  });
});
