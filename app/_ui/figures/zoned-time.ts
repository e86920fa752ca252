import { localTime, momentOf } from "@/server/work/schedules/time-zone";

const SHOWN = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(:\d{2})?$/;

/** The moment at which clocks in a time zone show a time such as `2026-11-20T08:30`. Null if it is no such time. */
export function readZonedTime(shown: string, timeZone: string): Date | null {
  const local = SHOWN.test(shown) ? Date.parse(`${shown}Z`) : Number.NaN;
  return Number.isNaN(local) ? null : new Date(momentOf(timeZone, local));
}

/** A moment as clocks in a time zone show it, to the minute: `2026-11-20T08:30`. */
export function writeZonedTime(at: Date, timeZone: string): string {
  return new Date(localTime(timeZone, at.getTime())).toISOString().slice(0, 16);
}
