import { DEFAULT_KEY_SCOPES, KEY_SCOPES, type KeyScope } from "@/server/base/actor";
import type { ApiKeyDefinition } from "@/server/catalog/definitions";
import type { DirectoryEntry } from "@/server/catalog/overview";
import type { RunKind } from "@/server/contract/enums";

/** The form of a new key, as typed. `limited`: whether the key is limited to `targetIds`. */
export const EMPTY_KEY = {
  name: "",
  scopes: DEFAULT_KEY_SCOPES,
  limited: false,
  targetIds: [] as string[],
  startsPerMinute: "",
  readsPerMinute: "",
  maxCredits: "",
};
type KeyDraft = typeof EMPTY_KEY;

/**
 * The definition of a draft, and the issues by JSON pointer that only the form can see: the definition reads an
 * invalid number as "no limit", and an empty selection as "all".
 */
export function readDraft(
  draft: KeyDraft,
  targets: readonly DirectoryEntry[],
): { input: Omit<ApiKeyDefinition, "expiresAt">; issues: Record<string, string> } {
  const issues: Record<string, string> = {};
  const chosen = draft.limited ? targets.filter(({ id }) => draft.targetIds.includes(id)) : [];
  const slugs = (kind: RunKind) => chosen.filter((entry) => entry.kind === kind).map(({ slug }) => slug);
  if (draft.limited && chosen.length === 0) issues["/agents"] = "Select at least one agent or tool.";
  const rate = (field: "startsPerMinute" | "readsPerMinute") => {
    const text = draft[field].trim();
    if (/^\d*$/.test(text)) return text === "" ? null : Number(text);
    issues[`/${field}`] = "Enter a whole number.";
    return null;
  };
  return {
    input: {
      name: draft.name.trim(),
      scopes: [...draft.scopes],
      agents: slugs("agent"),
      tools: slugs("tool"),
      startsPerMinute: rate("startsPerMinute"),
      readsPerMinute: rate("readsPerMinute"),
      maxCredits: draft.maxCredits.trim() || null,
    },
    issues,
  };
}

/** The scopes with one added or removed, in the order of KEY_SCOPES. */
export function withScope(scopes: readonly KeyScope[], scope: KeyScope, on: boolean): readonly KeyScope[] {
  return KEY_SCOPES.filter((each) => (each === scope ? on : scopes.includes(each)));
}
