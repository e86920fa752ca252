import { formatBytes, formatCount, formatDuration, formatPlural } from "@/app/_ui/figures/format";
import type { SystemProcess } from "@/server/operate/system/status";

/** Names and sentences of the page System, for the server and the browser. */

export const KEY_FIGURES = ["Version", "Processes", "Slots", "Queue", "Database"];

const ROLES = { all: "web and worker", web: "web", worker: "worker" } as const;

/** `2 web and worker, 1 worker`. */
export function describeRoles(processes: readonly Pick<SystemProcess, "role">[]): string {
  const parts = Object.entries(ROLES).flatMap(([role, words]) => {
    const count = processes.filter((process) => process.role === role).length;
    return count === 0 ? [] : [`${formatCount(count)} ${words}`];
  });
  return parts.length === 0 ? "No process reports" : parts.join(", ");
}

export function describeWait(runs: number, oldestSeconds: number): string {
  return runs === 0 ? "No run waits" : `Oldest waits ${formatDuration(oldestSeconds * 1_000)}`;
}

/** `+380.0 MiB a day`; null: not known yet. */
export function describeGrowth(bytesPerDay: number | null): string {
  return bytesPerDay === null ? "Growth is known after a day" : `${formatGrowth(bytesPerDay)} a day`;
}

/** `+380.0 MiB`, `−12.0 KiB`, `±0`. */
export function formatGrowth(bytesPerDay: number): string {
  const size = Math.round(Math.abs(bytesPerDay));
  return size === 0 ? "±0" : `${bytesPerDay < 0 ? "−" : "+"}${formatBytes(size)}`;
}

const MONTH_DAYS = 30.44;

/** When the disk is full at this growth: `full in 13 months`; null if it does not grow, or not in ten years. */
export function describeFull(free: number, bytesPerDay: number | null): string | null {
  if (bytesPerDay === null || bytesPerDay <= 0) return null;
  const days = Math.floor(free / bytesPerDay);
  if (days < 1) return "full within a day";
  if (days < 60) return `full in ${days} ${days === 1 ? "day" : "days"}`;
  const months = Math.floor(days / MONTH_DAYS);
  return months > 120 ? null : `full in ${months} months`;
}

/** `30 d`, or `7–90 d` if the plans differ. */
export function describeRetention(days: { least: number; most: number } | null): string {
  if (days === null) return "";
  return days.least === days.most ? `${days.least} d` : `${days.least}–${days.most} d`;
}

/** The samples of an hour in words. Runs may wait between two samples. */
export function describeWaiting(minutes: readonly { waiting: number | null }[]): string {
  const samples = minutes.flatMap(({ waiting }) => waiting ?? []);
  if (samples.length === 0) return "No sample yet.";
  const most = Math.max(...samples);
  return most === 0 ? "No run waited at any sample." : `At most ${formatPlural(most, "waiting run")}.`;
}

/** A bar for each of the 60 minutes before `at`; null: no sample. */
export function minutesBefore(
  at: string,
  samples: readonly { at: string; waiting: number }[],
): { at: string; waiting: number | null }[] {
  const known = new Map(samples.map((sample) => [Date.parse(sample.at), sample.waiting]));
  const last = Math.floor(Date.parse(at) / 60_000) * 60_000;
  return Array.from({ length: 60 }, (_, index) => {
    const minute = last - (59 - index) * 60_000;
    return { at: new Date(minute).toISOString(), waiting: known.get(minute) ?? null };
  });
}
