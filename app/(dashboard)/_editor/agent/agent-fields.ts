import { isJsonObject, readJson } from "@/server/base/json/json";
import type { describeAgentFields } from "@/server/catalog/agent-fields";
import type { AgentDefinition } from "@/server/catalog/definitions";
import type { EditedAgent } from "@/server/catalog/edit-definition";
import { type Fields, labelOf, settingsFields } from "@/server/work/agent/field-changes";
import { readSchema } from "../../_schema/field";
import type { Draft } from "../use-draft";

type Typed = number | string;

/** Policies, by the name of the attached tool or function. Undefined: not set. */
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

type Edited<Value> = number extends Value ? Typed | Exclude<Value, number> : Value;

export type AgentFields = {
  [Name in keyof Omit<AgentDefinition, "policies" | "outputSchema">]: Edited<AgentDefinition[Name]>;
} & {
  policies: Policies;
  /** JSON Schema; undefined: the answer is text. */
  outputSchema?: unknown;
};

/** Fields with a control of their own. The form builds the others from their descriptions. */
const PLACED: ReadonlySet<string> = new Set<keyof AgentFields>([
  "slug",
  "name",
  "status",
  "model",
  "fallbackModels",
  "systemPrompt",
  "functions",
  "tools",
  "outputSchema",
  "policies",
  "maxCredits",
  "deadlineSeconds",
]);

/** In the form's order. The other settings are folded. */
const MAIN: readonly string[] = ["maxOutputTokens", "reasoningEffort", "temperature"];

/** The settings whose control follows from their schema, by their place in the form. */
export function furtherFields({ schema, ofModel }: ReturnType<typeof describeAgentFields>) {
  const further = readSchema(schema).fields.filter(({ name }) => !PLACED.has(name));
  const sent = further.filter(({ name }) => ofModel.includes(name));
  return {
    main: MAIN.flatMap((name) => sent.filter((field) => field.name === name)),
    more: sent.filter(({ name }) => !MAIN.includes(name)),
    limits: further.filter((field) => !sent.includes(field)),
  };
}

const LABELS = new Map([
  ["maxCredits", "Credits per run"],
  ["deadlineSeconds", "Deadline in seconds"],
]);

export function labelsOf({ schema }: ReturnType<typeof describeAgentFields>): Record<string, string> {
  const names = Object.keys(schema.properties);
  return Object.fromEntries(names.map((name) => [`/${name}`, LABELS.get(name) ?? labelOf(name)]));
}

/** The definition that is sent, with the policies of attached functions and tools; the server names its issues. */
export function toDefinition(fields: AgentFields): object {
  const { functions, tools, policies } = fields;
  const attached = [...tools, ...functions].map((name) => [name, policyAt(policies, name)] as const);
  const set = attached.filter(([, policy]) => Object.values(policy).some((part) => part !== undefined));
  return { ...fields, policies: Object.fromEntries(set) };
}

/** The definition that the server sent, with the fields that came as a text. */
export function readDefinition({ definition, exact }: EditedAgent): AgentFields {
  const texts = exact === null ? null : readJson(exact);
  if (!isJsonObject(texts)) return definition;
  const { modelOptions, outputSchema } = texts;
  return { ...definition, outputSchema, ...(isJsonObject(modelOptions) && { modelOptions }) };
}

/** The fields that change without a new version. */
export const unversionedOf = ({ name, status }: Pick<AgentDefinition, "name" | "status">) => ({
  name,
  status,
});

/** Gives a draft the stored status, unless it changes the status. */
export function followStatus(
  draft: Draft<AgentFields>,
  status: AgentDefinition["status"],
): Draft<AgentFields> {
  const { opened, value } = draft;
  if (opened === null || opened.unversioned.status === status) return draft;
  const isChanged = value.status !== opened.unversioned.status;
  return {
    opened: { ...opened, unversioned: { ...opened.unversioned, status } },
    value: isChanged ? value : { ...value, status },
  };
}

/** An agent's fields as texts, to compare two versions. */
export const fieldsOf = (fields: AgentFields): Fields => new Map(settingsFields(toDefinition(fields)));

export function isAgentFields(stored: unknown): stored is AgentFields {
  if (!isJsonObject(stored)) return false;
  const { functions, tools, policies, ...texts } = stored;
  if (!Array.isArray(functions) || !Array.isArray(tools) || !isJsonObject(policies)) return false;
  return [texts.slug, texts.name, texts.model, texts.systemPrompt].every((each) => typeof each === "string");
}

/** Reads a typed number. Other text stays text, and so do unfinished numbers such as `1.`, and those beyond 1.8e308. */
export function readNumber(text: string): Typed {
  const number = Number(text);
  return text.trim() === "" || text.endsWith(".") || !Number.isFinite(number) ? text : number;
}
