import { expect, it } from "vitest";
import { parse } from "yaml";
import { readJson, writeJson } from "@/server/base/json/json";
import { freeStepId, insertStep, lineAt, moveStep, readTool, removeStep, setValue } from "./tool-document";

const TOOL = `# The tool of the front desk.
slug: desk
name: Desk # shown to models
parameters:
  type: object
  properties: { city: { type: string }, days: { type: integer } }

steps:
  # Ask the weather service.
  - id: fetch
    uses: http_request
    with: { url: "https://weather.test/{{ input.city }}" } # one request
  # Then count.
  - id: count
    uses: calculate
    with:
      expression: '{{ input.days }} * 2'
output: "{{ steps.count }}"
`;
const COMMENTS = [
  "# The tool of",
  "# shown to models",
  "# Ask the weather",
  "# one request",
  "# Then count.",
];

it("reads the steps with their lines", () => {
  expect(readTool(TOOL)).toMatchObject({
    inputs: ["city", "days"],
    fields: { output: "{{ steps.count }}" },
    steps: [
      { id: "fetch", uses: "http_request", parallel: null, lines: [10, expect.any(Number)] },
      { id: "count", uses: "calculate", fields: { with: { expression: "{{ input.days }} * 2" } } },
    ],
  });
});

it.each(["steps: [", "- a\n", "text", "a: 1\na: 2\n"])(
  "reads nothing from %j and leaves it as it is",
  (text) => {
    expect(readTool(text)).toBeNull();
    expect(setValue(text, ["name"], "New")).toBe(text);
  },
);

it("keeps the order of keys when one is renamed", () => {
  const path = ["parameters", "properties"];
  const renamed = setValue(TOOL, path, { town: { type: "string" }, days: { type: "integer" } });
  expect(renamed).toContain("{ town: { type: string }, days: { type: integer } }");
  expect(COMMENTS.filter((comment) => !renamed.includes(comment))).toEqual([]);
});

it("reads unfinished steps", () => {
  const text = "steps:\n  - id: 5\n  -\n  - text\n  - { id: both, parallel: [{ id: a, uses: wait }] }\n";
  expect(readTool(text)?.steps).toMatchObject([
    { id: "", uses: null },
    { id: "", uses: null },
    { id: "", uses: null },
    { id: "both", parallel: 1 },
  ]);
});

it("changes one value and keeps everything else, comments included", () => {
  const changed = setValue(TOOL, ["steps", 1, "with", "expression"], "{{ input.days }} * 3");
  expect(changed).toBe(TOOL.replace("* 2", "* 3").replaceAll('{ url: "', '{ url: "'));
  const set = setValue(TOOL, ["steps", 0, "retries"], 2);
  expect(parse(set).steps[0]).toMatchObject({ id: "fetch", retries: 2 });
  for (const comment of COMMENTS) expect(set).toContain(comment);
  expect(parse(setValue(set, ["steps", 0, "retries"], undefined))).toEqual(parse(TOOL));
});

it("writes values of every type where nothing was, or an empty value", () => {
  const bare = "slug: a\nsteps:\n  - id: one\n    uses: wait\n    with:\n";
  for (const value of ["{{ input }}", "line 1\nline 2", "true", 5, false, null, ["a"], { a: { b: 1 } }]) {
    expect(parse(setValue(bare, ["steps", 0, "with", "value"], value)).steps[0].with).toEqual({ value });
  }
});

it("writes an object over another and keeps the comments and style of equal parts", () => {
  const text = `parameters:
  type: object # always
  properties:
    # Where to look.
    city: { type: string } # such as Oslo
    days: { type: integer }
  required: [city, days]
`;
  const parameters = {
    type: "object",
    properties: { city: { type: "string" }, zone: { type: "string" } },
    required: ["city"],
  };
  const changed = setValue(text, ["parameters"], parameters);
  expect(parse(changed)).toEqual({ parameters });
  for (const kept of ["# always", "# Where to look.", "{ type: string } # such as Oslo", "[ city ]"])
    expect(changed).toContain(kept);
});

it("adds, moves, removes and restores steps with their comments", () => {
  const added = insertStep(TOOL, 1, { id: "now", uses: "current_time", with: {} });
  expect(readTool(added)?.steps.map(({ id }) => id)).toEqual(["fetch", "now", "count"]);
  const moved = moveStep(added, 2, 0);
  expect(readTool(moved)?.steps.map(({ id }) => id)).toEqual(["count", "fetch", "now"]);
  for (const comment of COMMENTS) expect(moved).toContain(comment);
  expect(moveStep(moved, 0, -1)).toBe(moved);

  const { text, restore } = removeStep(TOOL, 1);
  expect(readTool(text)?.steps.map(({ id }) => id)).toEqual(["fetch"]);
  expect(text).not.toContain("# Then count.");
  const later = setValue(text, ["name"], "Changed meanwhile");
  expect(readTool(restore(later))).toMatchObject({
    fields: { name: "Changed meanwhile" },
    steps: [{ id: "fetch" }, { id: "count" }],
  });
  expect(restore(text)).toBe(TOOL);

  expect(parse(insertStep("slug: a\n", 0, { id: "one" }))).toEqual({ slug: "a", steps: [{ id: "one" }] });
  expect(parse(insertStep("slug: a\nsteps:\n", 0, { id: "one" })).steps).toEqual([{ id: "one" }]);
});

it("does not remove or move a step whose anchor is used elsewhere", () => {
  const text = `steps:
  - id: one
    uses: wait
    with: &time
      seconds: 5
  - id: two
    uses: wait
    with: *time
`;
  expect(removeStep(text, 0).text).toBe(text);
  expect(moveStep(text, 0, 1)).toBe(text);
  expect(readTool(removeStep(text, 1).text)?.steps).toHaveLength(1);
});

it("finds a free id", () => {
  expect(freeStepId(TOOL, "wait")).toBe("wait");
  expect(freeStepId(TOOL, "count")).toBe("count_2");
  expect(freeStepId(TOOL.replace("id: fetch", "id: count_2"), "count")).toBe("count_3");
});

it("keeps the digits of numbers that a double cannot hold, shown, unchanged and typed", () => {
  const [id, price] = ["8202522731445525542", "0.12345678901234567891"];
  const text = TOOL.replace(
    "expression: '{{ input.days }} * 2'",
    `id: ${id}\n      price: ${price}\n      count: 012`,
  );
  const shown = readTool(text)?.steps[1]?.fields.with;
  expect(writeJson(shown)).toBe(`{"id":${id},"price":${price},"count":12}`);
  const renamed = setValue(text, ["name"], "Front desk");
  for (const line of [`id: ${id}\n`, `price: ${price}\n`, "count: 012\n"]) expect(renamed).toContain(line);
  const typed = setValue(text, ["steps", 1, "with"], readJson(`{"id":${id}1,"list":[${price}1],"count":13}`));
  expect(readTool(typed)?.steps[1]?.fields.with).toEqual(
    readJson(`{"id":${id}1,"list":[${price}1],"count":13}`),
  );
  expect(typed).toContain(`id: ${id}1\n`);
  expect(insertStep(text, 0, { id: "new", with: { id: readJson(id) } })).toContain(`id: ${id}\n`);
});

it("fills an empty object line by line", () => {
  const bare = "steps:\n  - id: a\n    uses: http_request\n    with: {}\n";
  const url = "https://a.test";
  const filled = `${bare.replace(" {}", "")}      url: ${url}\n`;
  expect(setValue(bare, ["steps", 0, "with", "url"], url)).toBe(filled);
  expect(setValue(bare, ["steps", 0, "with"], { url })).toBe(filled);
  expect(setValue(filled, ["steps", 0, "with"], {})).toBe(bare);
});

it("finds the line of a value, or of the value around it", () => {
  const text = "slug: a\nsteps:\n  - id: one\n    with:\n      url: x\n";
  expect(lineAt(text, ["slug"])).toBe(1);
  expect(lineAt(text, ["steps", 0, "with", "url"])).toBe(5);
  expect(lineAt(text, ["steps", 0, "uses"])).toBe(3);
  expect(lineAt(text, ["name"])).toBeNull();
  expect(lineAt("slug: [", ["slug"])).toBeNull();
});
