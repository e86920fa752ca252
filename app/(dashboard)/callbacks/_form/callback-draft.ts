import type { CallbackDefinition } from "@/server/catalog/callbacks/callback-definition";
import type { CallbackLine } from "@/server/catalog/callbacks/list-callbacks";
import type { DirectoryEntry } from "@/server/catalog/overview";
import { CALLBACK_END_EVENTS, CALLBACK_EVENTS, type CallbackEventType } from "@/server/contract/enums";

/** An agent, tool or trigger that the filter may name. */
export type FilterTarget = DirectoryEntry & { archived: boolean };

export const NEW_CALLBACK = {
  name: "",
  slug: "",
  url: "",
  events: [...CALLBACK_END_EVENTS] as readonly CallbackEventType[],
  creditsBelow: "",
  limited: false,
  chosen: [] as readonly FilterTarget[],
  metadata: "",
};

/** The form of a callback, as typed. */
export type CallbackDraft = typeof NEW_CALLBACK;

type Filter = Pick<CallbackLine, "agents" | "tools" | "triggers">;
type Shown = Pick<
  CallbackLine,
  "name" | "slug" | "url" | "events" | "metadata" | "creditsBelow" | "disabledAt"
> &
  Filter;

export function draftOf(callback: Shown): CallbackDraft {
  const { name, slug, url, metadata, creditsBelow } = callback;
  const chosen = targetsOf(callback);
  return {
    name,
    slug: slug ?? "",
    url: url ?? "",
    events: CALLBACK_EVENTS.filter((type) => callback.events.includes(type)),
    creditsBelow: creditsBelow ?? "",
    limited: chosen.length > 0 || Object.keys(metadata).length > 0,
    chosen,
    metadata: metadataText(metadata),
  };
}

function metadataText(metadata: CallbackLine["metadata"]): string {
  return Object.entries(metadata)
    .map(([key, value]) => `${key} = ${value}`)
    .join("\n");
}

function targetsOf({ agents, tools, triggers }: Filter): FilterTarget[] {
  return [
    ...agents.map((each) => ({ kind: "agent" as const, ...each })),
    ...tools.map((each) => ({ kind: "tool" as const, ...each })),
    ...triggers.map((each) => ({ kind: "trigger" as const, ...each })),
  ];
}

/** The items that a filter can name: all in use, and those that the callback names already, also archived ones. */
export function listChoices(directory: readonly DirectoryEntry[], callback: Filter | null): FilterTarget[] {
  const named = callback === null ? [] : targetsOf(callback);
  const inUse = new Set(directory.map(({ id }) => id));
  return [
    ...named.filter(({ id }) => !inUse.has(id)),
    ...directory.map((each) => ({ ...each, archived: false })),
  ];
}

/**
 * The definition that a draft describes, and the issues that only the form can see, by JSON pointer. `callback`: the
 * one that is edited.
 */
export function readDraft(
  draft: CallbackDraft,
  callback: Pick<Shown, "metadata" | "disabledAt"> | null,
): {
  definition: CallbackDefinition;
  issues: Record<string, string>;
} {
  const issues: Record<string, string> = {};
  if (draft.url.trim() === "") issues["/url"] = "Enter the address that gets the events.";
  const wantsCredits = draft.events.includes("credits.low");
  if (wantsCredits && draft.creditsBelow.trim() === "")
    issues["/creditsBelow"] = "Enter a number of credits.";
  if (draft.events.length === 0) issues["/events"] = "Choose at least one type of event.";
  const metadata = draft.limited ? readMetadata(draft.metadata, callback?.metadata) : {};
  if (metadata === null) issues["/metadata"] = "Write one pair a line, such as shop = no.";
  const chosen = draft.limited ? draft.chosen : [];
  // The definition reads an empty filter as "all".
  if (draft.limited && chosen.length === 0 && metadata !== null && Object.keys(metadata).length === 0)
    issues["/agents"] = "Select at least one agent, tool or trigger, or enter metadata.";
  const slugsOf = (kind: FilterTarget["kind"]) =>
    chosen.filter((each) => each.kind === kind).map(({ slug }) => slug);
  return {
    definition: {
      name: draft.name.trim(),
      slug: draft.slug.trim(),
      url: draft.url.trim(),
      events: [...draft.events],
      creditsBelow: wantsCredits ? draft.creditsBelow.trim() : null,
      agents: slugsOf("agent"),
      tools: slugsOf("tool"),
      triggers: slugsOf("trigger"),
      metadata: metadata ?? {},
      status: callback === null || callback.disabledAt === null ? "active" : "inactive",
    },
    issues,
  };
}

/** Null if a line is no pair. A text that was not edited stands for the stored pairs, which it may not express. */
function readMetadata(text: string, stored: CallbackLine["metadata"] = {}): Record<string, string> | null {
  if (text === metadataText(stored)) return stored;
  const pairs = text
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "")
    .map((line) => /^([^=]*[^=\s])\s*=\s*(.*)$/.exec(line));
  if (pairs.includes(null)) return null;
  return Object.fromEntries(pairs.flatMap((pair) => (pair ? [[pair[1] ?? "", pair[2] ?? ""]] : [])));
}
