import { formatCount, formatDate, NONE } from "@/app/_ui/figures/format";
import { DAY_MS } from "@/server/base/clock";

const MANY_DAYS = 3_650;

/** For how many days a balance lasts at the current rate, and until when. Amounts are in credits. */
export function daysLeft(
  available: number,
  usedPerDay: number,
  { now, timeZone }: { now: number; timeZone: string },
): { value: string; note: string } {
  // With nothing left and nothing used, 0 / 0 is not a number, and formatting it as a date throws.
  if (usedPerDay === 0) return { value: NONE, note: "Nothing was used in the last 7 days" };
  const days = Math.max(0, available / usedPerDay);
  const isLong = days >= MANY_DAYS;
  const end = isLong ? "more than ten years" : `until ${formatDate(new Date(now + days * DAY_MS), timeZone)}`;
  return {
    value: isLong ? `${formatCount(MANY_DAYS)}+` : formatCount(Math.floor(days)),
    note: `at this rate, without another grant: ${end}`,
  };
}
