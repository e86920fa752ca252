import { expect, test } from "vitest";
import { readYaml } from "./yaml-document";

const keys = (count: number) => Array.from({ length: count }, (_, n) => `k${n}: 1\n`).join("");

test("a map with very many keys takes no quadratic time", () => {
  const read = readYaml(keys(250_000));
  expect("value" in read && Object.keys(read.value ?? {}).length).toBe(250_000);
});

test("repeated keys are faults with their lines, in nested maps and of any spelling", () => {
  const message = "Map keys must be unique.";
  expect(readYaml("a: 1\nb: { c: 1, c: 2 }\n'a': 3\n")).toEqual({
    faults: [
      { line: 3, message },
      { line: 2, message },
    ],
  });
  expect(readYaml(`${keys(3)}${"k0: 2\n".repeat(100_000)}`)).toEqual({
    faults: [4, 5, 6, 7, 8].map((line) => ({ line, message })),
  });
});

test.each(["[", "{a: ", "- ", "? ", "{? "])("a nest of %s is refused, however deep", (opening) => {
  const message = "The document nests deeper than 100 levels.";
  expect(readYaml(`a:\n  ${opening.repeat(200_000)}`)).toMatchObject({ faults: [{ message }] });
});

test("a text with too many parts is refused where they exceed the limit", () => {
  const message = "The text has more than 1000 words and marks.";
  expect(readYaml(keys(1_000), { parts: 1_000 })).toEqual({
    faults: [{ line: expect.any(Number), message }],
  });
  expect(readYaml(keys(100), { parts: 1_000 })).toHaveProperty("value");
});
