import type { AgentSettings } from "@/server/work/agent/definition";

/** A field's old and new value; null: not set. Multi-line texts are compared by lines. */
export type FieldChange = { field: string; from: string | null; to: string | null };

/** A definition as texts, field by field, in display order. */
export type Fields = ReadonlyMap<string, string>;

/** The fields that differ; with `earlier` null, all fields. */
export function compareFields(earlier: Fields | null, later: Fields): FieldChange[] {
  const names = new Set([...(earlier?.keys() ?? []), ...later.keys()]);
  return [...names].flatMap((field) => {
    const from = earlier?.get(field) ?? null;
    const to = later.get(field) ?? null;
    return from === to ? [] : [{ field, from, to }];
  });
}

/** An agent's output schema and policies, where set. */
export function settingsFields({ outputSchema, policies }: AgentSettings): [string, string][] {
  return workflowFields({
    ...(outputSchema && { outputSchema }),
    ...(Object.keys(policies).length > 0 && { policies }),
  });
}

const WORDS: Record<string, string> = { outputSchema: "output schema" };

/** The parts of a tool's workflow. */
export function workflowFields(definition: object): [string, string][] {
  return Object.entries(definition).map(([field, value]) => [
    WORDS[field] ?? field,
    JSON.stringify(value, null, 2),
  ]);
}
