import { Cron } from "croner";
import { isTimeZone, localTime, momentOf } from "./time-zone";

/** When a schedule is due: a cron expression of five fields in a time zone. */
export type ScheduleRule = { cron: string; timeZone: string };

const UTC = { timezone: "UTC", mode: "5-part", paused: true } as const;

/** A day and a weekday must both match if one of them begins with `*`, even with a step; else either one (crontab(5)). */
function patternOf(cron: string): Cron {
  const [, , day = "", , weekday = ""] = cron.trim().split(/\s+/);
  const domAndDow = day.startsWith("*") || weekday.startsWith("*");
  return new Cron(cron.trim(), { ...UTC, domAndDow });
}

/** The issue of a rule with its field; null if it has a next time. */
export function describeRuleIssue(
  { cron, timeZone }: ScheduleRule,
  after: Date,
): { field: "cron" | "timeZone"; message: string } | null {
  if (!isTimeZone(timeZone)) {
    return { field: "timeZone", message: "must be the name of a time zone, such as Europe/Berlin or UTC" };
  }
  if (cron.trim().split(/\s+/).length !== 5) {
    const message = "must have five fields: minute, hour, day, month and weekday, such as 0 8 * * MON-FRI";
    return { field: "cron", message };
  }
  try {
    if (nextTimes({ cron, timeZone }, { after, limit: 1 }).length > 0) return null;
    return { field: "cron", message: "has no time in the coming years" };
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message.replace(/^CronPattern: /, "") : "";
    return { field: "cron", message: `is not a cron expression: ${reason}` };
  }
}

/**
 * The times after `after` and up to `until`, at most `limit`. A skipped local time is due at the next valid one, a
 * doubled one the first time. Throws if the rule is invalid.
 */
export function nextTimes(
  { cron, timeZone }: ScheduleRule,
  { after, until, limit }: { after: Date; until?: Date; limit: number },
): Date[] {
  const times: Date[] = [];
  // Cron runs on local times as if they were UTC, which has no changes of the clock.
  const pattern = patternOf(cron);
  let last = after.getTime();
  let local = pattern.nextRun(new Date(localTime(timeZone, last)));
  while (local !== null && times.length < limit) {
    const at = momentOf(timeZone, local.getTime());
    if (until !== undefined && at > until.getTime()) break;
    // Skipped local times share one moment; those of an hour that comes twice may be past.
    if (at > last) {
      times.push(new Date(at));
      last = at;
    }
    local = pattern.nextRun(local);
  }
  return times;
}
