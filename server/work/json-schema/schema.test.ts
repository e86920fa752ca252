import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Json, JsonObject } from "@/server/base/json/json";
import { inferSchema } from "./infer-schema";
import { checkSchema, validateAgainst } from "./schema";

const city: JsonObject = {
  type: "object",
  properties: { city: { type: "string", minLength: 2 }, unit: { enum: ["C", "F"] } },
  required: ["city"],
  additionalProperties: false,
};

const check = (schema: JsonObject, value: Json) => validateAgainst(schema, value, "org-1");

describe("validateAgainst", () => {
  test("names every error by a JSON pointer", async () => {
    expect(await check(city, { city: "Oslo" })).toEqual([]);
    expect(await check(city, {})).toEqual([{ path: "/city", message: "is required" }]);
    expect(await check(city, { city: 1, unit: "K", "a/b": 1 })).toEqual([
      { path: "/a~1b", message: "is not allowed" },
      { path: "/city", message: "must be string" },
      { path: "/unit", message: 'must be one of ["C","F"]' },
    ]);
    expect(await check(city, [])).toEqual([{ path: "", message: "must be object" }]);
  });

  test("lists at most 20 errors, and only the first of a large value", async () => {
    const numbers: JsonObject = { type: "array", items: { type: "number" } };
    expect(await check(numbers, Array(100).fill("x"))).toHaveLength(20);
    expect(await check(numbers, Array(50_000).fill("x"))).toHaveLength(1);
  });

  test("inherited properties do not count as present", async () => {
    const schema: JsonObject = { type: "object", required: ["constructor", "__proto__"] };
    expect((await check(schema, {})).map((issue) => issue.path)).toEqual(["/constructor", "/__proto__"]);
    expect(await check(schema, JSON.parse('{"constructor":1,"__proto__":2}'))).toEqual([]);
  });

  test.each<[string, JsonObject, Json]>([
    ["a catastrophic pattern", { type: "string", pattern: "^(a+)+$" }, `${"a".repeat(40)}b`],
    [
      "unique items over many",
      { type: "array", uniqueItems: true },
      Array.from({ length: 60_000 }, (_, i) => ({ i })),
    ],
  ])("%s is stopped", async (_name, schema, value) => {
    const started = Date.now();
    expect(await check(schema, value)).toEqual([
      { path: "", message: "could not be checked within 1000 ms" },
    ]);
    expect(Date.now() - started).toBeLessThan(30_000);
  });

  test("local references and formats work", async () => {
    const schema: JsonObject = {
      $defs: { day: { type: "string", format: "date" } },
      type: "object",
      properties: { from: { $ref: "#/$defs/day" } },
    };
    expect(await check(schema, { from: "2026-02-28" })).toEqual([]);
    expect((await check(schema, { from: "2026-02-30" }))[0]?.path).toBe("/from");
  });

  test("two schemas may carry the same $id", async () => {
    const a: JsonObject = { $id: "https://x.test/s", type: "string" };
    const b: JsonObject = { $id: "https://x.test/s", type: "number" };
    expect(await check(a, "x")).toEqual([]);
    expect(await check(b, 1)).toEqual([]);
    expect(await check(a, 1)).toHaveLength(1);
  });
});

describe("checkSchema", () => {
  test.each<[string, JsonObject, string]>([
    ["an unknown type", { type: "objekt" }, "/type"],
    ["a fault deep inside", { properties: { a: { minLength: -1 } } }, "/properties/a/minLength"],
    ["a remote reference", { properties: { a: { $ref: "https://evil.test/s.json" } } }, "/properties/a/$ref"],
    ["a relative reference", { $ref: "other.json" }, "/$ref"],
    ["another dialect", { $schema: "http://json-schema.org/draft-07/schema#" }, "/$schema"],
    ["a dangling reference", { $ref: "#/$defs/none" }, ""],
    ["a pattern that is none", { pattern: "(" }, ""],
    ["a huge schema", { enum: ["x".repeat(200_000)] }, ""],
    ["a nest", nest(80), "/items/items/items/items/items/items/items/items"],
  ])("%s is refused with its path", async (_name, schema, path) => {
    const issues = await checkSchema(schema, "org-1");
    expect(issues.length).toBeGreaterThan(0);
    expect(issues.map((issue) => issue.path)).toContain(path);
  });

  test("a schema is data and never code", async () => {
    const schema: JsonObject = {
      type: "object",
      properties: { 'a"];process.exit(1);//': { const: "`$" + "{process.exit(1)}`" } },
    };
    expect(await checkSchema(schema, "org-1")).toEqual([]);
    expect(await check(schema, { x: 1 })).toEqual([]);
  });
});

function nest(depth: number): JsonObject {
  return depth === 0 ? { type: "string" } : { items: nest(depth - 1) };
}

describe("inferSchema", () => {
  test("describes objects, arrays and mixtures", () => {
    expect(inferSchema({ a: 1, b: [1, 2.5], c: null, d: [] })).toEqual({
      type: "object",
      properties: {
        a: { type: "integer" },
        b: { type: "array", items: { type: "number" } },
        c: { type: "null" },
        d: { type: "array" },
      },
      required: ["a", "b", "c", "d"],
    });
    expect(inferSchema([{ a: 1 }, { a: "x", b: true }, "t"])).toEqual({
      type: "array",
      items: {
        anyOf: [
          {
            type: "object",
            properties: { a: { anyOf: [{ type: "integer" }, { type: "string" }] }, b: { type: "boolean" } },
            required: ["a"],
          },
          { type: "string" },
        ],
      },
    });
  });

  test("every value is valid against its own inferred schema", async () => {
    await fc.assert(
      fc.asyncProperty(fc.jsonValue({ maxDepth: 5 }), async (generated) => {
        const value: Json = JSON.parse(JSON.stringify(generated));
        const schema = inferSchema(value);
        expect(await checkSchema(schema, "org-1")).toEqual([]);
        expect(await check(schema, value)).toEqual([]);
      }),
      { numRuns: 60 },
    );
  });

  test("a large value gets a bounded schema", () => {
    const wide = Object.fromEntries(Array.from({ length: 5000 }, (_, i) => [`k${i}`, i]));
    expect(JSON.stringify(inferSchema(wide)).length).toBeLessThan(20_000);
  });
});
