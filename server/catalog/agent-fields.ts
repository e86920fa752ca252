import { z } from "zod";
import { modelSettings } from "@/server/work/models/settings";
import { type AgentDefinition, agentDefinition } from "./definitions";

/** The fields of an agent as JSON Schema, for its form. `ofModel`: those that are sent with a model call. */
export function describeAgentFields() {
  const { properties = {}, required = [] } = z.toJSONSchema(agentDefinition, {
    io: "input",
    unrepresentable: "any",
  });
  return { schema: { type: "object", properties, required }, ofModel: Object.keys(modelSettings.shape) };
}

/** A new agent; its model is chosen by the form. */
export function blankAgent(): AgentDefinition {
  const name = "new";
  return { ...agentDefinition.parse({ slug: name, name, model: name }), slug: "", name: "", model: "" };
}
