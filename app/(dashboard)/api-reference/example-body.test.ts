import { expect, test } from "vitest";
import { exampleBody } from "./example-body";

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
  expect(JSON.parse(exampleBody(JSON.stringify(parameters)))).toEqual({
    item: "text",
    quantity: 2,
    unit: "kg",
    paid: false,
    lines: [],
    to: { city: "Oslo" },
    currency: "EUR",
  });
  expect(exampleBody("{}")).toBe("{}");
});
