import { expect, test } from "vitest";
import { readContent, StreamedParts } from "./content-parts";

const thinking = (...texts: string[]) => ({
  type: "thinking",
  thinking: texts.map((text) => ({ type: "text", text })),
});

test("streamed parts become those of a whole message", () => {
  const parts = new StreamedParts();
  expect(parts.add([thinking("I ")]).text).toBe("");
  parts.add([thinking("have ", "to")]);
  parts.add([{ ...thinking(), closed: true, signature: "s" }]);
  expect(parts.add([{ type: "text", text: "Ye" }]).text).toBe("Ye");
  expect(parts.add([{ type: "text", text: "s" }, null, 7]).text).toBe("s");
  expect(parts.toList()).toEqual([
    { ...thinking("I have to"), closed: true, signature: "s" },
    { type: "text", text: "Yes" },
  ]);
  expect(readContent(parts.toList())).toEqual({ content: "Yes", reasoning: "I have to" });
});

test("many small parts take linear time and are limited", () => {
  const parts = new StreamedParts();
  for (let index = 0; index < 100_000; index += 1)
    parts.add([{ type: "thinking", thinking: [{ type: `kind-${index % 2}`, text: "x" }] }]);
  const [part] = parts.toList() ?? [];
  expect(part).toMatchObject({ thinking: { length: 1000 } });
});

test.each([
  ["a text", "Yes", { content: "Yes", reasoning: "" }],
  ["nothing", null, { content: "", reasoning: "" }],
  ["a thinking text", [{ type: "thinking", thinking: "Hm" }], { content: "", reasoning: "Hm" }],
  ["other values", [1, null, { text: 5 }], { content: "", reasoning: "" }],
])("content that is %s", (_name, content, expected) => {
  expect(readContent(content)).toEqual(expected);
});
