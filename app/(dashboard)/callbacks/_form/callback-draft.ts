import type { CallbackDefinition } from "@/server/catalog/callbacks/callback-definition";
import type { CallbackDetail } from "@/server/catalog/callbacks/list-callbacks";
import { CALLBACK_END_EVENTS, CALLBACK_EVENTS, type CallbackEventType } from "@/server/contract/enums";

export const NEW_CALLBACK = {
  name: "",
  slug: "",
  url: "",
  events: [...CALLBACK_END_EVENTS] as readonly CallbackEventType[],
  creditsBelow: "",
  limited: false,
  ids: [] as readonly string[],
  metadata: "",
};

/** The form of a callback, as typed. */
export type CallbackDraft = typeof NEW_CALLBACK;

export function draftOf(callback: CallbackDetail): CallbackDraft {
  const { name, slug, url, agents, tools, triggers, metadata, creditsBelow } = callback;
  const ids = [...agents, ...tools, ...triggers].map(({ id }) => id);
  return {
    name,
    slug: slug ?? "",
    url: url ?? "",
    events: CALLBACK_EVENTS.filter((type) => callback.events.includes(type)),
    creditsBelow: creditsBelow ?? "",
    limited: ids.length > 0 || Object.keys(metadata).length > 0,
    ids,
    metadata: Object.entries(metadata)
      .map(([key, value]) => `${key} = ${value}`)
      .join("\n"),
  };
}

type Named = { id: string; slug: string; kind: "agent" | "tool" | "trigger" };

/** The definition that a draft describes, and the issues that only the form can see, by JSON pointer. */
export function readDraft(
  draft: CallbackDraft,
  directory: readonly Named[],
): { definition: Omit<CallbackDefinition, "status">; issues: Record<string, string> } {
  const issues: Record<string, string> = {};
  if (draft.url.trim() === "") issues["/url"] = "Enter the address that gets the events.";
  const wantsCredits = draft.events.includes("credits.low");
  if (wantsCredits && draft.creditsBelow.trim() === "")
    issues["/creditsBelow"] = "Enter a number of credits.";
  if (draft.events.length === 0) issues["/events"] = "Choose at least one type of event.";
  const pairs = draft.metadata
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => draft.limited && line !== "")
    .map((line) => /^([^=]*[^=\s])\s*=\s*(.*)$/.exec(line));
  if (pairs.includes(null)) issues["/metadata"] = "Write one pair a line, such as shop = no.";
  const slugsOf = (kind: Named["kind"]) =>
    draft.limited
      ? directory.filter((each) => each.kind === kind && draft.ids.includes(each.id)).map(({ slug }) => slug)
      : [];
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
      metadata: Object.fromEntries(pairs.flatMap((pair) => (pair ? [[pair[1] ?? "", pair[2] ?? ""]] : []))),
    },
    issues,
  };
}
