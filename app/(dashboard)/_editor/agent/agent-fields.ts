import type { AgentDefinition } from "@/server/catalog/definitions";
import type { Fields } from "@/server/catalog/field-changes";
import { type PolicyFields, policyAt } from "./policies";

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
  /** By the names in `functions` and `tools`; those of others are not saved. */
  policies: Record<string, PolicyFields>;
  /** JSON Schema; undefined: the answer is text. */
  outputSchema: unknown;
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
  "/policies": "Policies",
  "/outputSchema": "Output schema",
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
    policies: {},
    outputSchema: undefined,
    maxCredits: "",
    deadlineSeconds: "900",
  };
}

export function toFields(definition: AgentDefinition): AgentFields {
  return {
    ...definition,
    maxSteps: String(definition.maxSteps),
    policies: Object.fromEntries(
      Object.entries(definition.policies).map(([name, { maxCalls, retries, onError = "continue" }]) => [
        name,
        { maxCalls: textOf(maxCalls), retries: textOf(retries), onError },
      ]),
    ),
    outputSchema: definition.outputSchema,
    maxCredits: definition.maxCredits ?? "",
    deadlineSeconds: String(definition.deadlineSeconds),
  };
}

const textOf = (number: number | undefined) => (number === undefined ? "" : String(number));

/** The policies of what is attached, without defaults. */
function policiesOf({ functions, tools, policies }: AgentFields): Record<string, object> {
  const attached = [...tools, ...functions].flatMap((name) => {
    const { maxCalls, retries, onError } = policyAt(policies, name);
    const policy = {
      ...(maxCalls.trim() !== "" && { maxCalls: numberOf(maxCalls) }),
      ...(retries.trim() !== "" && { retries: numberOf(retries) }),
      ...(onError === "fail" && { onError }),
    };
    return Object.keys(policy).length > 0 ? [[name, policy] as const] : [];
  });
  return Object.fromEntries(attached);
}

/** An agent's fields as texts, to compare two versions. */
export function fieldsOf(fields: AgentFields): Fields {
  const { functions, tools, outputSchema } = fields;
  return new Map([
    ["name", fields.name],
    ["status", fields.status],
    ["model", fields.model],
    ["system prompt", fields.systemPrompt],
    ["tools", tools.join("\n")],
    ["functions", functions.join("\n")],
    ["policies", JSON.stringify(policiesOf(fields), null, 2)],
    ["output schema", outputSchema === undefined ? "" : JSON.stringify(outputSchema, null, 2)],
    ["max steps", fields.maxSteps],
    ["credits per run", fields.maxCredits],
    ["deadline in seconds", fields.deadlineSeconds],
  ]);
}

/** The definition that is sent; the server names what is wrong with it. */
export function toDefinition(fields: AgentFields): object {
  const { maxSteps, maxCredits, deadlineSeconds } = fields;
  return {
    ...fields,
    policies: policiesOf(fields),
    maxSteps: numberOf(maxSteps),
    maxCredits: maxCredits.trim() === "" ? null : maxCredits.trim(),
    deadlineSeconds: numberOf(deadlineSeconds),
  };
}

/** A stored draft; null if it is none. */
export function readFields(stored: unknown): AgentFields | null {
  if (typeof stored !== "object" || stored === null) return null;
  const text = (name: keyof AgentFields) => textAt(stored, name);
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
    policies: readPolicies(Reflect.get(stored, "policies")),
    outputSchema: Reflect.get(stored, "outputSchema"),
    maxCredits: text("maxCredits"),
    deadlineSeconds: text("deadlineSeconds"),
  };
}

function readPolicies(stored: unknown): Record<string, PolicyFields> {
  if (typeof stored !== "object" || stored === null) return {};
  const policies = Object.entries(stored).map(([name, policy]): [string, PolicyFields] => [
    name,
    {
      maxCalls: textAt(policy, "maxCalls"),
      retries: textAt(policy, "retries"),
      onError: textAt(policy, "onError") === "fail" ? "fail" : "continue",
    },
  ]);
  return Object.fromEntries(policies);
}

/** A text in a stored object; empty if it is none. */
function textAt(stored: unknown, name: string): string {
  const value: unknown = typeof stored === "object" && stored !== null ? Reflect.get(stored, name) : "";
  return typeof value === "string" ? value : "";
}

/** A number, or the text itself: the server then says that it must be a number. */
function numberOf(text: string): number | string {
  const number = Number(text);
  return text.trim() === "" || Number.isNaN(number) ? text : number;
}
