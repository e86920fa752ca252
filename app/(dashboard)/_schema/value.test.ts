import { describe, expect, it } from "vitest";
import { readSchema } from "./field";
import { controlOf, emptyOf, sampleOf, withProperty } from "./value";

describe("a form's first value", () => {
  it.each([
    ["its default", { type: "string", default: "Oslo", examples: ["Bergen"] }, "Oslo"],
    ["its first example", { type: "integer", examples: [3, 4] }, 3],
    ["its constant", { const: 7 }, 7],
    ["nothing for a text without one", { type: "string" }, undefined],
    ["nothing for a value that is not a schema", true, undefined],
    [
      "the required properties of an object except texts, and those with a default",
      {
        type: "object",
        required: ["city", "size"],
        properties: {
          city: { type: "string" },
          size: { enum: ["S", "M"] },
          count: { type: "integer", default: 2 },
          note: { type: "string" },
        },
      },
      { size: "S", count: 2 },
    ],
    [
      "a required object with its parts, and an optional one only with a default",
      {
        type: "object",
        required: ["home"],
        properties: {
          home: { type: "object", required: ["tags"], properties: { tags: { type: "array" } } },
          work: { type: "object", required: ["tags"], properties: { tags: { type: "array" } } },
          shop: { type: "object", properties: { city: { type: "string" } }, default: { city: "Oslo" } },
        },
      },
      { home: { tags: [] }, shop: { city: "Oslo" } },
    ],
  ])("is %s", (_, schema, expected) => {
    expect(sampleOf(readSchema(schema))).toEqual(expected);
  });

  it("is finite for a schema that is nested without end", () => {
    const schema: Record<string, unknown> = { type: "object", required: ["next"] };
    schema.properties = { next: schema };
    expect(JSON.stringify(sampleOf(readSchema(schema))).length).toBeLessThan(200);
  });
});

describe("a field", () => {
  it.each([
    ["a choice", { enum: ["a", 1, null] }, "choice"],
    ["JSON, if a choice is an object", { enum: [{}] }, "json"],
    ["JSON for alternatives", { anyOf: [{ type: "string" }] }, "json"],
    ["a list", { type: "array", items: { type: "number" } }, "list"],
    ["a group of properties without a type", { properties: { a: {} } }, "object"],
    ["JSON for an object without properties", { type: "object" }, "json"],
  ])("is %s", (_, schema, kind) => {
    expect(controlOf(readSchema(schema))).toBe(kind);
  });

  it("of a new required list is empty", () => expect(emptyOf(readSchema({ type: "array" }))).toEqual([]));
});

describe("setting a property", () => {
  it("keeps the order of the others", () => {
    expect(Object.keys(withProperty({ a: 1, b: 2, c: 3 }, "a", 9))).toEqual(["a", "b", "c"]);
  });
  it("leaves out undefined values", () => {
    expect(withProperty({ a: 1, b: 2 }, "a", undefined)).toEqual({ b: 2 });
  });
});
