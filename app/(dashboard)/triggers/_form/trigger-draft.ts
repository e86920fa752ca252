import type { TriggerDefinition } from "@/server/catalog/definitions";
import type { TriggerDetail } from "@/server/catalog/webhooks/inspect-trigger";

export const NEW_TRIGGER = {
  name: "",
  slug: "",
  target: "",
  template: "",
  filter: "",
  signature: "hex" as TriggerDefinition["signature"],
  secret: "generated" as "generated" | "own" | "none",
  ownSecret: "",
  requests: "30",
  seconds: "60",
  maxCredits: "",
  enabled: true,
};

/** The form of a trigger, as typed. */
export type TriggerDraft = typeof NEW_TRIGGER;

export function draftOf(trigger: TriggerDetail): TriggerDraft {
  return {
    ...NEW_TRIGGER,
    name: trigger.name,
    slug: trigger.slug,
    target: trigger.target.gone ? "" : `${trigger.target.kind}/${trigger.target.slug}`,
    template: trigger.messageTemplate ?? "",
    filter: trigger.filter ?? "",
    signature: trigger.signature,
    requests: String(trigger.rateLimit.requests),
    seconds: String(trigger.rateLimit.seconds),
    maxCredits: trigger.maxCredits ?? "",
    enabled: trigger.enabled,
  };
}

/**
 * The definition that a draft describes, without its secret, and the issues that only the form can see, by JSON
 * pointer.
 */
export function readDraft(draft: TriggerDraft): {
  definition: Omit<TriggerDefinition, "secret">;
  issues: Record<string, string>;
} {
  const issues: Record<string, string> = {};
  const [kind, targetSlug] = draft.target.split("/");
  if (!targetSlug) issues["/agent"] = "Choose an agent or a tool.";
  if (draft.secret === "own" && draft.ownSecret === "") issues["/secret"] = "Enter the sender's secret.";
  const readInteger = (field: "requests" | "seconds") => {
    if (!/^\d+$/.test(draft[field].trim())) issues[`/rateLimit/${field}`] = "Enter a whole number.";
    return Number(draft[field].trim());
  };
  return {
    definition: {
      name: draft.name.trim(),
      slug: draft.slug.trim(),
      ...(targetSlug ? (kind === "agent" ? { agent: targetSlug } : { tool: targetSlug }) : {}),
      messageTemplate: kind === "agent" && draft.template.trim() !== "" ? draft.template : null,
      filter: draft.filter.trim() || null,
      signature: draft.signature,
      rateLimit: { requests: readInteger("requests"), seconds: readInteger("seconds") },
      maxCredits: draft.maxCredits.trim() || null,
      status: draft.enabled ? "active" : "inactive",
    },
    issues,
  };
}
