import { readdirSync } from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { findFunction, inputSchemaOf, listFunctions } from "@/server/functions/registry";
import { checkSchema } from "@/server/workflow/schema";

const MACHINERY = new Set(["define.ts", "execute.ts", "registry.ts"]);

test("every file in this folder is registered under its own name, and nothing else is", () => {
  const files = readdirSync(import.meta.dirname)
    .filter((name) => name.endsWith(".ts") && !name.endsWith(".test.ts") && !MACHINERY.has(name))
    .map((name) => path.basename(name, ".ts").replaceAll("-", "_"))
    .sort();
  expect(
    listFunctions()
      .map((definition) => definition.name)
      .sort(),
  ).toEqual(files);
});

test("every function describes itself and its input to models", async () => {
  for (const definition of listFunctions()) {
    expect(findFunction(definition.name)).toBe(definition);
    expect(definition.description.length, definition.name).toBeGreaterThan(20);
    const schema = inputSchemaOf(definition);
    expect(schema.type, definition.name).toBe("object");
    expect(await checkSchema(schema, "org-1"), definition.name).toEqual([]);
    for (const property of Object.values(schema.properties ?? {}))
      expect(property).toHaveProperty("description");
  }
});

test("an unknown name finds nothing, prototype keys included", () => {
  expect(findFunction("nonsense")).toBeUndefined();
  expect(findFunction("constructor")).toBeUndefined();
  expect(findFunction("__proto__")).toBeUndefined();
});
