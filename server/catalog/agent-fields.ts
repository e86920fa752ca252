import { z } from "zod";
import { writeJson } from "@/server/base/json/json";
import { modelSettings } from "@/server/work/models/settings";
import { type AgentDefinition, agentDefinition } from "./definitions";

/** A field of an agent, as its form and the guide of definition files show it. */
export type AgentField = {
  name: string;
  description: string;
  /** Null: the field is required. */
  default: string | null;
  control: "number" | "share" | "text" | "choice" | "switch" | "json" | "other";
  options: string[];
  /** Shares begin at 0. */
  most: number;
  isModels: boolean;
};

export function describeAgentFields(): AgentField[] {
  const { properties } = z.toJSONSchema(agentDefinition, { io: "input", unrepresentable: "any" });
  return Object.entries(agentDefinition.shape).map(([name, type]) => {
    const property = properties?.[name];
    const schema = typeof property === "object" ? property : {};
    const [description = "", inWords] = (schema.description ?? "").split(/ ?Default: /);
    const preset = inWords?.replace(/\.$/, "") ?? describeDefault(schema.default);
    const isRequired = !type.safeParse(undefined).success;
    const options = (schema.enum ?? []).map(String);
    return {
      name,
      description,
      default: isRequired ? null : preset,
      control: controlOf(schema),
      options,
      most: schema.maximum ?? 0,
      isModels: Object.hasOwn(modelSettings.shape, name),
    };
  });
}

const describeDefault = (value: unknown) => (typeof value === "string" ? value : writeJson(value ?? null));

function controlOf({ enum: options, type, maximum }: z.core.JSONSchema.JSONSchema): AgentField["control"] {
  if (options !== undefined) return "choice";
  if (type === "number" && maximum !== undefined) return "share";
  if (type === "integer" || type === "number") return "number";
  if (type === "boolean") return "switch";
  if (type === "object") return "json";
  return type === "string" ? "text" : "other";
}

/** A new agent; its model is chosen by the form. */
export function blankAgent(): AgentDefinition {
  const name = "new";
  return { ...agentDefinition.parse({ slug: name, name, model: name }), slug: "", name: "", model: "" };
}
