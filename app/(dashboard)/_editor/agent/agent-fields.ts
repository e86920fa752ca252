import { isJsonObject } from "@/server/base/json/json";
import type { AgentDefinition } from "@/server/catalog/definitions";
import type { Fields } from "@/server/work/agent/field-changes";

/** A number, or the typed text: the server then answers that it must be a number. */
type Typed = number | string;

/** How an agent may use each attached tool or function, by name. Undefined: not set. */
export type Policies = Readonly<Record<string, Policy>>;
export type Policy = {
  maxCalls?: Typed | undefined;
  retries?: Typed | undefined;
  onError?: "fail" | "continue" | undefined;
};

/** The policy of an attachment, which may be named like a property that all objects have. */
export function policyAt(policies: Policies, name: string): Policy {
  return (Object.hasOwn(policies, name) ? policies[name] : undefined) ?? {};
}

/** An agent as its form changes it. */
export type AgentFields = Omit<
  AgentDefinition,
  "maxSteps" | "deadlineSeconds" | "policies" | "outputSchema"
> & {
  maxSteps: Typed;
  deadlineSeconds: Typed;
  /** Only those of attached tools and functions are saved. */
  policies: Policies;
  /** JSON Schema; undefined: the answer is text. */
  outputSchema?: unknown;
};

/** The label of each field by its JSON pointer. */
export const AGENT_LABELS = {
  "/name": "Name",
  "/slug": "Slug",
  "/status": "Status",
  "/model": "Model",
  "/systemPrompt": "System prompt",
  "/tools": "Tools",
  "/functions": "Functions",
  "/policies": "Policies",
  "/outputSchema": "Output schema",
  "/maxSteps": "Max steps",
  "/maxCredits": "Credits per run",
  "/deadlineSeconds": "Deadline in seconds",
};

/** A new agent; `model` is preselected. */
export function newAgent(model: string): AgentFields {
  return {
    slug: "",
    name: "",
    status: "active",
    model,
    systemPrompt: "",
    maxSteps: 8,
    functions: [],
    tools: [],
    policies: {},
    maxCredits: null,
    deadlineSeconds: 900,
  };
}

/** The definition that is sent, with the policies of attached functions and tools; the server names its faults. */
export function toDefinition(fields: AgentFields): object {
  const { functions, tools, policies } = fields;
  const attached = [...tools, ...functions].map((name) => [name, policyAt(policies, name)] as const);
  const set = attached.filter(([, policy]) => Object.values(policy).some((part) => part !== undefined));
  return { ...fields, policies: Object.fromEntries(set) };
}

/** An agent's fields as texts, to compare two versions. */
export function fieldsOf(fields: AgentFields): Fields {
  const definition = new Map<string, unknown>(Object.entries(toDefinition(fields)));
  return new Map(
    Object.entries(AGENT_LABELS).map(([pointer, label]) => {
      const value = definition.get(pointer.slice(1)) ?? "";
      const lines = Array.isArray(value) ? value.join("\n") : value;
      return [label.toLowerCase(), isJsonObject(lines) ? JSON.stringify(lines, null, 2) : String(lines)];
    }),
  );
}

/** Whether a stored draft has all fields of an agent. */
export function isAgentFields(stored: unknown): stored is AgentFields {
  if (!isJsonObject(stored)) return false;
  const { functions, tools, policies } = stored;
  if (!Array.isArray(functions) || !Array.isArray(tools) || !isJsonObject(policies)) return false;
  return Object.keys(newAgent("")).every((name) => Object.hasOwn(stored, name));
}

/** Reads a typed number. Other text stays text, and so does an unfinished number such as `1.`. */
export function readNumber(text: string): Typed {
  const number = Number(text);
  return text.trim() === "" || text.endsWith(".") || Number.isNaN(number) ? text : number;
}
