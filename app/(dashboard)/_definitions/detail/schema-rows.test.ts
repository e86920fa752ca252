import { expect, it } from "vitest";
import { readSchema } from "../../_schema/field";
import { rowsOf } from "./schema-rows";

const row = (path: string, type: string, more = {}) => ({
  path,
  type,
  required: false,
  description: "",
  rules: "",
  ...more,
});

it("names the properties within objects and lists by their path", () => {
  const schema = {
    type: "object",
    required: ["customer"],
    properties: {
      customer: {
        type: "object",
        description: "Who asks.",
        properties: { email: { type: "string", format: "email" } },
      },
      articles: { type: "array", items: { type: "object", properties: { price: { type: "number" } } } },
    },
  };
  expect(rowsOf(readSchema(schema))).toEqual([
    row("customer", "object", { required: true, description: "Who asks." }),
    row("customer.email", "email"),
    row("articles", "list of objects"),
    row("articles[].price", "number"),
  ]);
});

it("shows choices, bounds and defaults in words", () => {
  const schema = {
    type: "object",
    properties: {
      shops: { type: "array", items: { enum: ["oslo", "hamar"] }, default: [] },
      priority: { type: "integer", minimum: 1, maximum: 5 },
      any: { oneOf: [] },
    },
  };
  expect(rowsOf(readSchema(schema))).toEqual([
    row("shops", "list of choices", { rules: '"oslo", "hamar", default []' }),
    row("priority", "whole number", { rules: "at least 1, at most 5" }),
    row("any", "any"),
  ]);
});

it("shows no rows for a schema without properties", () => {
  expect(rowsOf(readSchema({ type: "string" }))).toEqual([]);
  expect(rowsOf(readSchema(true))).toEqual([]);
});
