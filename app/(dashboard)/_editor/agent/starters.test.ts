import { expect, it } from "vitest";
import { agentDefinition } from "@/server/catalog/definitions";
import { findFunction } from "@/server/work/functions/core/registry";
import { rename } from "../slug";
import { newAgent, toDefinition } from "./agent-fields";
import { AGENT_STARTERS } from "./starters";

it.each(AGENT_STARTERS)("an agent that begins as $fields.slug can be saved as it is", ({ fields }) => {
  const { functions, ...definition } = agentDefinition.parse(
    toDefinition({ ...newAgent("demo"), ...fields }),
  );
  expect(definition.slug).toBe(fields.slug);
  expect(rename({ slug: "", name: "" }, definition.name).slug).toBe(fields.slug);
  for (const name of functions) expect(findFunction(name), name).toBeDefined();
});
