import { describe, expect, test } from "vitest";
import { z } from "zod";
import type { Json } from "@/server/base/json/json";
import { executeFunction } from "@/server/work/functions/core/execute";
import { testFunctionContext } from "@/testing/function-context";

const call = (name: string, input: Json, organizationId = "org-1") =>
  executeFunction(name, { input, context: testFunctionContext({ organizationId }) });

describe("parse_csv", () => {
  test.each<[string, { [key: string]: Json }, Json]>([
    ["records", { text: "a,b\n1,2\n" }, [{ a: "1", b: "2" }]],
    [
      "quotes, commas and lines in values",
      { text: 'a,b\r\n"x, ""y""","1\n2"' },
      [{ a: 'x, "y"', b: "1\n2" }],
    ],
    [
      "lines that end in different ways",
      { text: 'a,b\n1,2\r\n3,"x\r\ny"\n5,6\r7,8' },
      [
        { a: "1", b: "2" },
        { a: "3", b: "x\r\ny" },
        { a: "5", b: "6" },
        { a: "7", b: "8" },
      ],
    ],
    ["a byte order mark", { text: "\uFEFFa\n1" }, [{ a: "1" }]],
    ["another delimiter", { text: "a;b\n1;2", delimiter: ";" }, [{ a: "1", b: "2" }]],
    [
      "no header",
      { text: "1,2\n3,4", header: false },
      [
        ["1", "2"],
        ["3", "4"],
      ],
    ],
    ["a line for Excel (mholt/PapaParse#951)", { text: "\uFEFFsep=;\r\na;b\r\n1;2" }, [{ a: "1", b: "2" }]],
    [
      "a line for Excel and another delimiter",
      { text: "sep=;\na,b\n1,2", delimiter: "," },
      [{ a: "1", b: "2" }],
    ],
    ["no rows", { text: "a,b" }, []],
    ["nothing", { text: "" }, []],
    [
      "two columns of one name as lists",
      { text: "a,a\n1,2", header: false },
      [
        ["a", "a"],
        ["1", "2"],
      ],
    ],
  ])("reads %s", async (_name, input, expected) => {
    expect(await call("parse_csv", input)).toEqual(expected);
  });

  test("a column may have any name", async () => {
    const text = "__proto__,constructor,toString\n1,2,3";
    expect(JSON.stringify(await call("parse_csv", { text }))).toBe(
      '[{"__proto__":"1","constructor":"2","toString":"3"}]',
    );
    expect({}.constructor).toBe(Object);
  });

  test.each([
    ["a row of another length", "a,b\n1,2,3", "line 2"],
    ["an open quote", 'a\n"1', "Quote"],
    ["two columns of one name", "sku,stock,sku\nA-1,4,B-2", 'two columns are named "sku"; header: false'],
    ["too many rows", "a\n".repeat(100_002), "too many rows"],
  ])("rejects %s", async (_name, text, message) => {
    await expect(call("parse_csv", { text })).rejects.toMatchObject({
      code: "invalid_csv",
      message: expect.stringContaining(message),
    });
  });
});

test.each([
  ["a row of another length", "a,b\n1,2,3", true],
  ["a quote within a value", 'a\n10" tape', true],
  ["two columns of one name", "sku,sku\nA-1,4", true],
  ["an open quote", 'a\n"1', false],
])("the error of %s names relaxed if it helps", async (_name, text, helps) => {
  const failed = expect(call("parse_csv", { text })).rejects;
  const hint = expect.stringMatching(/With relaxed: true it is repaired\.$/);
  await failed.toMatchObject({ message: helps ? hint : expect.not.stringContaining("relaxed") });
  const output = call("parse_csv", { text, relaxed: true });
  await (helps ? expect(output).resolves.toHaveProperty("rows") : expect(output).rejects.toThrow());
});

test.each(["\n", "\r", '"'])("the delimiter %j is rejected", async (delimiter) => {
  await expect(call("parse_csv", { text: "a\n1", delimiter })).rejects.toMatchObject({
    code: "invalid_input",
    message: expect.stringContaining("/delimiter cannot be a quote or the end of a line"),
  });
});

test("a text with another delimiter names it (node-red/node-red#2925)", async () => {
  const notes: string[] = [];
  const parse = (text: string) => {
    const context = testFunctionContext({ note: (line) => void notes.push(line) });
    return executeFunction("parse_csv", { input: { text }, context });
  };
  await parse("col_a;col_b\n1;2\n");
  await parse("a\tb\r\n1\t2");
  const advice = (character: string) =>
    `The first line has only one value. If ${character} separates the values, set delimiter to it.`;
  expect(notes).toEqual([advice('";"'), advice("a tab")]);
  await expect(parse("a;b\n1,5;2,5\n")).rejects.toThrow(
    /If ";" separates the values, set delimiter to it\.$/,
  );
  for (const text of ["a,b;c\n1,2", "sep=;\na;b\n1;2", "a\n1;2", ""]) await parse(text);
  expect(notes).toHaveLength(2);
});

describe("parse_csv, relaxed", () => {
  const repaired = (rows: Json, ...repairs: [number, string][]) => ({
    rows,
    repairs: repairs.map(([line, problem]) => ({ line, problem })),
    repairCount: repairs.length,
  });

  test.each<[string, { [key: string]: Json }, Json]>([
    ["a text without errors", { text: "a,b\n1,2" }, repaired([{ a: "1", b: "2" }])],
    [
      "a delimiter at the end of each line",
      { text: "a;b;\n1;2;\n3;4;\n", delimiter: ";" },
      repaired(
        [
          { a: "1", b: "2" },
          { a: "3", b: "4" },
        ],
        [1, "ends with a delimiter; the empty column is left out"],
      ),
    ],
    [
      "a delimiter at the end of some lines",
      { text: "a,b\n1,2,\n3,4" },
      repaired(
        [
          { a: "1", b: "2" },
          { a: "3", b: "4" },
        ],
        [2, "has 3 values instead of 2"],
      ),
    ],
    [
      "short and long rows",
      { text: "a,b\n1\n2,3,4,\n" },
      repaired(
        [
          { a: "1", b: "" },
          { a: "2", b: "3", "column 3": "4" },
        ],
        [2, "has 1 value instead of 2"],
        [3, "has 4 values instead of 2"],
      ),
    ],
    [
      "columns of one name and without a name",
      { text: "a,,a\n1,2,3" },
      repaired(
        [{ a: "1", "column 2": "2", "a (2)": "3" }],
        [1, 'names column 2 ""; it is called "column 2"'],
        [1, 'names column 3 "a"; it is called "a (2)"'],
      ),
    ],
    [
      "quotes within values",
      { text: 'size,note\n5" pipe,"a "b" c"' },
      repaired(
        [{ size: '5" pipe', note: '"a "b" c"' }],
        [2, "has a quote within a value; quotes are part of such values"],
      ),
    ],
    [
      "rows as lists",
      { text: "1,2\n3", header: false },
      repaired(
        [
          ["1", "2"],
          ["3", ""],
        ],
        [2, "has 1 value instead of 2"],
      ),
    ],
    ["nothing", { text: "" }, repaired([])],
  ])("reads %s", async (_name, input, expected) => {
    expect(await call("parse_csv", { ...input, relaxed: true })).toEqual(expected);
  });

  test("leaves out spaces around quoted values (adaltas/node-csv-parse#139)", async () => {
    const text = 'a, b\n"1", "x, y"\n2 , z';
    expect(await call("parse_csv", { text, relaxed: true })).toEqual({
      rows: [
        { a: "1", b: "x, y" },
        { a: "2", b: "z" },
      ],
      repairs: [{ line: 2, problem: "has spaces around a quoted value; spaces around values are left out" }],
      repairCount: 1,
    });
  });

  test("lists the first 1,000 repairs and counts all", async () => {
    const output = await call("parse_csv", { text: `a,b\n${"1\n".repeat(1_500)}`, relaxed: true });
    expect(output).toMatchObject({ repairCount: 1_500 });
    expect(output).toHaveProperty("repairs.length", 1_000);
  });
});

describe("extract_text", () => {
  const long = "A sentence of the page. ".repeat(40).trim();

  test.each(["form", "nav", "noscript", "template", "svg", "object", "iframe", "button", "head"])(
    "keeps a page that is wrapped in <%s>, or in one that is never closed",
    async (name) => {
      const wrapped = `<body><${name}><h1>Stock</h1><p>Four lamps.</p></${name}></body>`;
      expect(await call("extract_text", { html: wrapped })).toMatchObject({ text: "Stock\n\nFour lamps." });
      const open = `<body><p>Before</p><${name}><p>${long}</p></body>`;
      expect(await call("extract_text", { html: open })).toMatchObject({ text: `Before\n\n${long}` });
      const short = `<title>Stock</title><${name}><a href=/>Home</a><p>Four lamps.</p>`;
      expect(await call("extract_text", { html: short })).toMatchObject({
        text: expect.stringMatching(/Four lamps\.$/),
      });
    },
  );

  test("skips menus that are longer than the page, and fields", async () => {
    const menu = `<nav>${"<a href=/x>A link of the menu</a>".repeat(200)}</nav>`;
    const fields = "<form><label>Name</label><select><option>No</select><textarea>x</textarea></form>";
    const output = await call("extract_text", { html: `${menu}<p>Short.</p>${fields}` });
    expect(output).toMatchObject({ text: "Short.\n\nName" });
  });

  test.each<[string, string, Json]>([
    [
      "the main part, without markup, scripts, menus and forms",
      "<html><head><title>A &amp; B</title><style>p{}</style></head><body><nav>Home</nav><main><h1>Head</h1>" +
        "<p>One <a href='https://x.test'>link</a><br>two</p><script>steal()</script></main><footer>F</footer></body></html>",
      { title: "A & B", text: "Head\n\nOne link\ntwo" },
    ],
    ["a fragment", "<p>One</p><p>Two &lt; three</p>", { title: "", text: "One\n\nTwo < three" }],
    ["a page without a head", "<title>A</title><p>One</p>", { title: "A", text: "One" }],
    ["a list", "<ul><li>a<li>b</ul>", { title: "", text: "* a\n * b" }],
    ["a list in Roman numbers", "<ol type=I start=9><li>a<li>b</ol>", { title: "", text: "IX. a\n X.  b" }],
    ["a list by letters", "<ol type=a start=27><li>a</ol>", { title: "", text: "aa. a" }],
    [
      "a list whose numbers have no Roman form",
      "<ol type=I start=99999999><li>a</ol><ol type=i start=3999><li>b<li>c</ol>",
      { title: "", text: "99999999. a\n\n 3999. b\n 4000. c" },
    ],
    [
      "a list before the first letter",
      "<ol type=a start=-1><li>a<li>b</ol>",
      { title: "", text: "-1. a\n 0.  b" },
    ],
    [
      "a list without a number to start",
      "<ol start=1e999><li>a</ol><ol start=x><li>b</ol>",
      { title: "", text: "1. a\n\n 1. b" },
    ],
    [
      "no titles of icons (progval/Limnoria#1147)",
      "<head><title>Stock</title></head><svg><title>Icon</title></svg><p>Text</p>",
      { title: "Stock", text: "Text" },
    ],
    [
      "no titles of icons in a page without a head (keepcosmos/readability#17)",
      "<svg><g><title>Icon</title></g></svg><title>Stock</title><title>Other</title><p>Text</p>",
      { title: "Stock", text: "Text" },
    ],
    ["no titles of icons alone", "<svg><title>Icon</title></svg><p>Text</p>", { title: "", text: "Text" }],
    [
      "a page beside teasers that are articles (mozilla/readability#808)",
      `<h1>Page</h1><p>${"word ".repeat(50)}</p><article><h2>Read on</h2></article>`,
      { title: "", text: `Page\n\n${"word ".repeat(50).trim()}\n\n\nRead on` },
    ],
    [
      "an article with the page's heading beside longer comments",
      `<article><h1>Page</h1>Text</article><p>${"comment ".repeat(50)}</p>`,
      { title: "", text: "Page\n\nText" },
    ],
    [
      "lists of terms and details in lines (jugglerchris/rust-html2text#26)",
      "<dl><dt>a</dt><dd>1</dd><dt>b</dt><dd>2</dd></dl><details><summary>More</summary>Text</details>",
      { title: "", text: "a\n1\nb\n2\nMore\nText" },
    ],
    [
      "cells that span more than their table (html-to-text/node-html-to-text#105)",
      '<table><tr><td colspan=100000000>a</td></tr><tr><td rowspan=65534>b</td><td colspan="100%">c</td></tr></table>',
      { title: "", text: "a\nb   c" },
    ],
    [
      "no hidden parts",
      "<p hidden>x</p><p style='display:none'>x</p><p style='color:red; VISIBILITY: hidden'>x</p><p>y</p>",
      { title: "", text: "y" },
    ],
    [
      "no hidden items, rows and cells",
      "<ul><li hidden>x</li><li>a</li></ul><ol><li>b</li><li style='display: none'>x</li></ol>" +
        "<table><tr hidden><td>x</td></tr><tbody><tr><td>c</td><td hidden>x</td></tr></tbody></table>",
      { title: "", text: "* a\n\n 1. b\n\nc" },
    ],
    [
      "a page that a script would show",
      "<body style='display:none'><p>y</p></body>",
      { title: "", text: "y" },
    ],
    ["text that is not HTML", "just text", { title: "", text: "just text" }],
    ["nothing", "", { title: "", text: "" }],
  ])("reads %s", async (_name, html, expected) => {
    expect(await call("extract_text", { html })).toEqual(expected);
  });
});

test("a table with one long cell is not filled up with spaces (jugglerchris/rust-html2text#53)", async () => {
  const rows = "<tr><td>a</td><td>b</td></tr>".repeat(1_000);
  const html = `<table><tr><td>${"x".repeat(3_000)}</td><td>b</td></tr>${rows}</table>`;
  const { text } = z.object({ text: z.string() }).parse(await call("extract_text", { html }));
  expect(text.length).toBeLessThan(html.length);
  expect(text).toMatch(/b *\na {3}b *\na {3}b/);
});

describe("a hostile document is stopped, and the next one is read", () => {
  test.each<[string, string, Json]>([
    ["many attributes", "extract_text", { html: `<p ${"a=b ".repeat(500_000)}>x</p>` }],
    ["open comments", "extract_text", { html: "<!--".repeat(500_000) }],
    ["many quotes", "parse_csv", { text: '""'.repeat(1_000_000) }],
    ["many columns", "parse_csv", { text: `${",".repeat(1_000_000)}\n` }],
  ])("%s", { timeout: 60_000 }, async (_name, name, input) => {
    const started = performance.now();
    await call(name, input).catch((error: unknown) =>
      expect(error).toMatchObject({ code: expect.stringMatching(/invalid_(html|csv)/) }),
    );
    expect(performance.now() - started).toBeLessThan(30_000);
    expect(await call("parse_csv", { text: "a\n1" })).toEqual([{ a: "1" }]);
  });
});
