import { expect, test } from "vitest";
import { exampleInput } from "./example-input";

test("an example has the required properties and those with a default", () => {
  const parameters = {
    type: "object",
    properties: {
      item: { type: "string" },
      quantity: { type: "integer", minimum: 2 },
      unit: { enum: ["kg", "piece"] },
      paid: { type: "boolean" },
      lines: { type: "array", items: {} },
      to: { type: "object", properties: { city: { type: "string", default: "Oslo" } } },
      note: { type: "string" },
      currency: { type: "string", default: "EUR" },
    },
    required: ["item", "quantity", "unit", "paid", "lines", "to"],
  };
  expect(exampleInput(parameters)).toEqual({
    item: "text",
    quantity: 2,
    unit: "kg",
    paid: false,
    lines: [],
    to: { city: "Oslo" },
    currency: "EUR",
  });
  expect(exampleInput({})).toEqual({});
});

test("an example follows constants, examples and bounds; without required properties it has the first one", () => {
  const parameters = {
    type: "object",
    properties: {
      city: { type: "string", examples: ["Lisbon"] },
      days: { type: "integer", minimum: 3 },
      at: { type: "string", format: "date-time" },
      rows: { type: "array", items: { const: 7 }, minItems: 1 },
      ignored: { type: "boolean" },
    },
  };
  const required = ["city", "days", "at", "rows"];
  const at = "2026-01-01T00:00:00Z";
  expect(exampleInput({ ...parameters, required })).toEqual({ city: "Lisbon", days: 3, at, rows: [7] });
  expect(exampleInput(parameters)).toEqual({ city: "Lisbon" });
});
