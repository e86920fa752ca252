import { expect, it } from "vitest";
import { readJson, writeJson } from "@/server/base/json/json";
import { agentDefinition } from "@/server/catalog/definitions";
import { readDefinition, toSent } from "./agent-fields";

it("sends and reads numbers that a double cannot hold as a text", () => {
  const definition = agentDefinition.parse({ slug: "a", name: "A", model: "m" });
  expect(toSent(definition)).toEqual(definition);
  const exact =
    '{"modelOptions":{"seed":8202522731445525542},"outputSchema":{"maximum":9223372036854775807}}';
  const fields = readDefinition({ version: 1, definition, exact });
  expect(writeJson(fields)).toContain(exact.slice(1, -1).replace(/,"outputSchema.*/, ""));
  const sent = toSent(fields);
  expect(sent).toContain('"maximum":9223372036854775807');
  expect(readJson(String(sent))).toMatchObject(fields);
});
