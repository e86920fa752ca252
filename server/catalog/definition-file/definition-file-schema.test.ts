import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { Ajv2020 } from "ajv/dist/2020.js";
import addFormats from "ajv-formats";
import { describe, expect, it, test } from "vitest";
import { parse } from "yaml";
import { definitionFileSchema } from "@/testing/definition-file-schema";

const ROOT = join(import.meta.dirname, "../../..");
const FOLDER = join(ROOT, "examples");
const ajv = new Ajv2020({ strict: false, allErrors: true });
addFormats.default(ajv);
const validate = ajv.compile(definitionFileSchema());

function issuesOf(file: unknown): string[] {
  validate(file);
  return [...new Set((validate.errors ?? []).map(({ instancePath }) => instancePath))];
}

it("docs/definition-files.schema.json matches the schemas", async () => {
  const text = `${JSON.stringify(definitionFileSchema(), null, 2)}\n`;
  const page = join(ROOT, "docs/definition-files.schema.json");
  await expect(text, "Out of date: run `npm run docs:generate`.").toMatchFileSnapshot(page);
});

describe("every example", () => {
  const files = readdirSync(FOLDER).filter((name) => name.endsWith(".yaml"));
  test.each(files)("%s matches the schema and names it", (name) => {
    const source = readFileSync(join(FOLDER, name), "utf8");
    expect(issuesOf(parse(source))).toEqual([]);
    expect(source.split("\n", 1)[0]).toBe(
      "# yaml-language-server: $schema=../docs/definition-files.schema.json",
    );
  });
});

const withStep = (step: object) => ({
  organizations: [{ slug: "acme", tools: [{ slug: "t", name: "T", steps: [{ id: "a", ...step }] }] }],
});
const STEP = "/organizations/0/tools/0/steps/0";

test.each<[string, object, string]>([
  ["an unknown function", { uses: "fetch_url" }, `${STEP}/uses`],
  ["an unknown input", { uses: "calculate", with: { expression: "1", ex: 1 } }, `${STEP}/with`],
  ["a missing input", { uses: "calculate", with: {} }, `${STEP}/with`],
  ["a wrong input", { uses: "calculate", with: { expression: 1 } }, `${STEP}/with/expression`],
  ["an unknown field", { uses: "calculate", with: { expression: "1" }, retry: 1 }, STEP],
])("finds %s", (_name, step, path) => {
  expect(issuesOf(withStep(step))).toContain(path);
});

test.each<[string, object]>([
  ["a template for any value", { uses: "wait", with: { seconds: "{{ input.s }}" } }],
  ["a template in a list", { uses: "send_email", with: { to: ["{{ input.to }}"], subject: "s", text: "t" } }],
  [
    "a group",
    {
      parallel: [
        { id: "b", uses: "current_time" },
        { id: "c", uses: "wait", with: { seconds: 1 } },
      ],
    },
  ],
])("accepts %s", (_name, step) => {
  expect(issuesOf(withStep(step))).toEqual([]);
});
