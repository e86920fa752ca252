import { readdirSync } from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { z } from "zod";
import { executeFunction } from "@/server/work/functions/core/execute";
import { findFunction, inputSchemaOf, listFunctions } from "@/server/work/functions/core/registry";
import { checkSchema } from "@/server/work/json-schema/schema";
import { testFunctionContext } from "@/testing/function-context";

test("every file of server/work/functions is registered under its own name, and no other", () => {
  const files = readdirSync(path.dirname(import.meta.dirname))
    .filter((name) => name.endsWith(".ts") && !name.endsWith(".test.ts"))
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

test("every function has a title, output and errors, and its example's output matches", () => {
  for (const { name, title, output, errors, example } of listFunctions()) {
    expect(title.length, name).toBeGreaterThan(3);
    for (const [code, meaning] of Object.entries(errors)) {
      expect(code, name).toMatch(/^[a-z_]+$/);
      expect(meaning.length, name).toBeGreaterThan(10);
    }
    expect(output.safeParse(example.output).error, name).toBeUndefined();
  }
});

const WRITTEN = { outcome: "written", version: 2 } as const;

const WORLDS: Record<string, Parameters<typeof testFunctionContext>[0]> = {
  http_request: { fetch: async () => Response.json({ sku: "A-1", inStock: 4 }) },
  get_value: { values: { get: async () => ({ value: { page: 3 }, version: 2 }), set: async () => WRITTEN } },
  set_value: { values: { get: async () => null, set: async () => WRITTEN } },
  send_email: {
    sendMail: async () => ({
      messageId: "<3d7bd9a1c6ae9a1c3a50fa9e3ee7d5a54d3d1ac2@example.com>",
      accepted: ["ada@example.com"],
      rejected: [],
    }),
  },
  generate_text: { callModel: async () => ({ content: '{"city":"Oslo"}', state: null, toolCalls: [] }) },
};

const OWN = listFunctions().filter(({ run }) => typeof run === "function");

test.each(OWN)("the example of $name returns its output", async ({ name, example, output }) => {
  const input = z.json().parse(example.input);
  const result = await executeFunction(name, { input, context: testFunctionContext(WORLDS[name]) });
  expect(result).toEqual(example.output);
  expect(output.parse(result)).toEqual(result);
});

test("an unknown name finds nothing, prototype keys included", () => {
  expect(findFunction("nonsense")).toBeUndefined();
  expect(findFunction("constructor")).toBeUndefined();
  expect(findFunction("__proto__")).toBeUndefined();
});
