import { expect, it } from "vitest";
import { writeJson } from "@/server/base/json/json";
import { agentDefinition } from "@/server/catalog/definitions";
import { readDefinition, readNumber, toDefinition } from "./agent-fields";

it("reads numbers that a double cannot hold from a text", () => {
  const definition = agentDefinition.parse({ slug: "a", name: "A", model: "m" });
  const exact =
    '{"modelOptions":{"seed":8202522731445525542},"outputSchema":{"maximum":9223372036854775807}}';
  const fields = readDefinition({ version: 1, definition, exact });
  expect(writeJson(fields)).toContain(exact.slice(1, -1).replace(/,"outputSchema.*/, ""));
  expect(writeJson(toDefinition(fields))).toContain('"maximum":9223372036854775807');
});

it("leaves what is no number, or would be sent as null, as text", () => {
  for (const text of ["", "1.", "many", "1e999", "-1e999"]) expect(readNumber(text)).toBe(text);
  expect(readNumber("0.50")).toBe(0.5);
});
