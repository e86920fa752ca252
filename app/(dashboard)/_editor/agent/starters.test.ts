import { expect, it } from "vitest";
import { blankAgent, describeAgentFields } from "@/server/catalog/agent-fields";
import { agentDefinition } from "@/server/catalog/definitions";
import { findFunction } from "@/server/work/functions/core/registry";
import { rename } from "../slug";
import { furtherFields, toDefinition } from "./agent-fields";
import { AGENT_STARTERS } from "./starters";

it.each(AGENT_STARTERS)("an agent that begins as $fields.slug can be saved as it is", ({ fields }) => {
  const { functions, ...definition } = agentDefinition.parse(
    toDefinition({ ...blankAgent(), model: "demo", ...fields }),
  );
  expect(definition.slug).toBe(fields.slug);
  expect(rename({ slug: "", name: "" }, definition.name).slug).toBe(fields.slug);
  for (const name of functions) expect(findFunction(name), name).toBeDefined();
});

it("each setting without a control of its own in the editor is read from its schema", () => {
  const { main, more, limits } = furtherFields(describeAgentFields());
  expect(main.map(({ name }) => name)).toEqual(["maxOutputTokens", "reasoningEffort", "temperature"]);
  expect([...main, ...more, ...limits].filter((field) => field.reason !== null)).toEqual([]);
});
