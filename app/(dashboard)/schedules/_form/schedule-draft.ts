import { readJsonObject } from "@/app/_ui/editor/input-problem";
import type { JsonObject } from "@/server/base/json/json";
import type { ScheduleDefinition } from "@/server/catalog/definitions";
import type { ScheduleDetail } from "@/server/catalog/schedules/inspect-schedules";
import type { OverlapPolicyName } from "@/server/contract/enums";

export const NEW_SCHEDULE = {
  name: "",
  slug: "",
  target: "",
  message: "",
  input: "{}",
  cron: "0 8 * * MON-FRI",
  timeZone: "UTC",
  overlap: "skip" as OverlapPolicyName,
  catchUpMinutes: "60",
  jitterSeconds: "0",
  paused: false,
};

/** The form of a schedule, as typed. */
export type ScheduleDraft = typeof NEW_SCHEDULE;

export function draftOf(schedule: ScheduleDetail): ScheduleDraft {
  const { name, slug, target, input, cron, timeZone, overlap, catchUpSeconds, jitterSeconds } = schedule;
  return {
    ...NEW_SCHEDULE,
    name,
    slug,
    target: target.gone ? "" : `${target.kind}/${target.slug}`,
    ...(target.kind === "agent" ? { message: input } : { input }),
    cron,
    timeZone,
    overlap,
    catchUpMinutes: String(catchUpSeconds / 60),
    jitterSeconds: String(jitterSeconds),
    paused: schedule.pausedAt !== null,
  };
}

/** The definition that a draft describes, and the issues that only the form can see, by JSON pointer. */
export function readDraft(draft: ScheduleDraft): {
  definition: ScheduleDefinition;
  issues: Record<string, string>;
} {
  const issues: Record<string, string> = {};
  const [kind, targetSlug] = draft.target.split("/");
  if (!targetSlug) issues["/agent"] = "Choose an agent or a tool.";
  const readNumber = (text: string, pointer: string) => {
    if (!/^\d+(\.\d+)?$/.test(text.trim())) issues[pointer] = "Enter a number.";
    return Number(text.trim());
  };
  const catchUpSeconds = Math.round(readNumber(draft.catchUpMinutes, "/catchUpSeconds") * 60);
  const jitterSeconds = readNumber(draft.jitterSeconds, "/jitterSeconds");
  return {
    definition: {
      name: draft.name.trim(),
      slug: draft.slug.trim(),
      ...(targetSlug === undefined || targetSlug === ""
        ? {}
        : kind === "agent"
          ? { agent: targetSlug, message: draft.message }
          : { tool: targetSlug, input: readInput(draft.input, issues) }),
      cron: draft.cron.trim(),
      timeZone: draft.timeZone.trim(),
      overlap: draft.overlap,
      catchUpSeconds,
      jitterSeconds,
      paused: draft.paused,
    },
    issues,
  };
}

function readInput(text: string, issues: Record<string, string>): JsonObject {
  const { value, issue } = readJsonObject(text.trim() === "" ? "{}" : text);
  if (issue !== null) issues["/input"] = issue;
  return value ?? {};
}
