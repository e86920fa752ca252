import type { AgentDefinition } from "@/server/catalog/definitions";
import type { Fields } from "@/server/catalog/field-changes";

/** An agent as its form shows it: numbers are texts, so that they can be typed. */
export type AgentFields = {
  slug: string;
  name: string;
  status: "active" | "inactive";
  model: string;
  systemPrompt: string;
  maxSteps: string;
  functions: string[];
  tools: string[];
  maxCredits: string;
  deadlineSeconds: string;
};

/** The label of each field by its JSON pointer. */
export const AGENT_LABELS = {
  "/name": "Name",
  "/slug": "Slug",
  "/model": "Model",
  "/status": "Status",
  "/systemPrompt": "System prompt",
  "/tools": "Tools",
  "/functions": "Functions",
  "/maxSteps": "Max steps",
  "/maxCredits": "Credits per run",
  "/deadlineSeconds": "Deadline",
};

/** A new agent; `model` is preselected. */
export function newAgent(model: string): AgentFields {
  return {
    slug: "",
    name: "",
    status: "active",
    model,
    systemPrompt: "",
    maxSteps: "8",
    functions: [],
    tools: [],
    maxCredits: "",
    deadlineSeconds: "900",
  };
}

export function toFields(definition: AgentDefinition): AgentFields {
  return {
    ...definition,
    maxSteps: String(definition.maxSteps),
    maxCredits: definition.maxCredits ?? "",
    deadlineSeconds: String(definition.deadlineSeconds),
  };
}

/** An agent's fields as texts, to compare two versions. */
export function fieldsOf({ functions, tools, ...fields }: AgentFields): Fields {
  return new Map([
    ["name", fields.name],
    ["status", fields.status],
    ["model", fields.model],
    ["system prompt", fields.systemPrompt],
    ["tools", tools.join("\n")],
    ["functions", functions.join("\n")],
    ["max steps", fields.maxSteps],
    ["credits per run", fields.maxCredits],
    ["deadline in seconds", fields.deadlineSeconds],
  ]);
}

/** The definition that is sent; the server names what is wrong with it. */
export function toDefinition({ maxSteps, maxCredits, deadlineSeconds, ...fields }: AgentFields): object {
  return {
    ...fields,
    maxSteps: numberOf(maxSteps),
    maxCredits: maxCredits.trim() === "" ? null : maxCredits.trim(),
    deadlineSeconds: numberOf(deadlineSeconds),
  };
}

/** A stored draft; null if it is none. */
export function readFields(stored: unknown): AgentFields | null {
  if (typeof stored !== "object" || stored === null) return null;
  const text = (name: keyof AgentFields) => {
    const value: unknown = Reflect.get(stored, name);
    return typeof value === "string" ? value : "";
  };
  const list = (name: keyof AgentFields) => {
    const value: unknown = Reflect.get(stored, name);
    return Array.isArray(value) ? value.filter((item) => typeof item === "string") : [];
  };
  return {
    slug: text("slug"),
    name: text("name"),
    status: text("status") === "inactive" ? "inactive" : "active",
    model: text("model"),
    systemPrompt: text("systemPrompt"),
    maxSteps: text("maxSteps"),
    functions: list("functions"),
    tools: list("tools"),
    maxCredits: text("maxCredits"),
    deadlineSeconds: text("deadlineSeconds"),
  };
}

/** A number, or the text itself: the server then says that it must be a number. */
function numberOf(text: string): number | string {
  const number = Number(text);
  return text.trim() === "" || Number.isNaN(number) ? text : number;
}
