import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { splitLines, splitMarkdown } from "./text-pieces";

describe("a long text in parts", () => {
  it("is cut at line ends, or else between characters, without loss", () => {
    expect(splitLines("one\ntwo\nthree\n", 9)).toEqual(["one\ntwo\n", "three\n"]);
    expect(splitLines("abc😀def", 4)).toEqual(["abc", "😀de", "f"]);
    expect(splitLines("", 4)).toEqual([]);
    fc.assert(
      fc.property(
        fc.string({ unit: fc.constantFrom("a", "\n", "😀") }),
        fc.integer({ min: 2, max: 9 }),
        (text, size) => {
          const pieces = splitLines(text, size);
          expect(pieces.join("")).toBe(text);
          expect(pieces.every(({ length }) => length <= size)).toBe(true);
        },
      ),
    );
  });
});

describe("long Markdown in parts", () => {
  it("is one piece if it fits", () => {
    expect(splitMarkdown("# a\n\nb", 10)).toEqual(["# a\n\nb"]);
  });

  it("is cut between blocks", () => {
    expect(splitMarkdown("# one\n\ntext\n\n## two\n\nmore\n", 16)).toEqual([
      "# one\n\ntext\n\n",
      "## two\n\nmore\n",
    ]);
  });

  it("is not cut within a list item, nor within code that fits", () => {
    expect(splitMarkdown("para\n\n- a\n\n  of a\n", 14)).toEqual(["para\n\n", "- a\n\n  of a\n"]);
    expect(splitMarkdown("para\n\n```\na\n\nb\n```\n", 16)).toEqual(["para\n\n", "```\na\n\nb\n```\n"]);
  });

  it("closes and reopens code at a cut", () => {
    expect(splitMarkdown("~~~js\n1\n2\n3\n4\n5\n6\n~~~\n", 12)).toEqual([
      "~~~js\n1\n2\n3\n~~~\n",
      "~~~js\n4\n5\n6\n~~~\n",
    ]);
  });

  it("repeats a table's header after a cut", () => {
    const [, second = ""] = splitMarkdown(`| a | b |\n|--:|---|\n${"| 1 | 2 |\n".repeat(4)}`, 45);
    expect(second).toMatch(/^\| a \| b \|\n\|--:\|---\|\n\| 1 \| 2 \|\n/);
  });

  it("adds the definitions of links and footnotes", () => {
    const text = "a [link][x] and[^1]\n\nother\n\n[X]: https://a.test/\n[^1]: a note\n    of two lines\n";
    expect(splitMarkdown(text, 28)[0]).toBe(
      "a [link][x] and[^1]\n\nother\n\n\n\n[X]: https://a.test/\n\n[^1]: a note\n    of two lines",
    );
  });

  it("loses no line, whatever the text", () => {
    const line = fc.constantFrom(
      "```",
      "~~~",
      "| a | b |",
      "|--|--|",
      "",
      "word",
      "- word",
      "    word",
      "😀",
    );
    fc.assert(
      fc.property(fc.array(line, { maxLength: 60 }), fc.integer({ min: 12, max: 40 }), (lines, size) => {
        const text = lines.join("\n");
        const count = (text: string) => text.split("word").length;
        expect(count(splitMarkdown(text, size).join(""))).toBe(count(text));
      }),
    );
  });

  it("handles megabytes quickly", () => {
    const text = "word [a](b) | c\n".repeat(200_000);
    const started = performance.now();
    expect(splitMarkdown(text, 8_192).length).toBeGreaterThan(300);
    expect(performance.now() - started).toBeLessThan(20_000);
  });
});
