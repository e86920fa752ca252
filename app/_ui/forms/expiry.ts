import { readZonedTime } from "@/app/_ui/figures/zoned-time";
import { DAY_MS } from "@/server/base/clock";

export const EXPIRIES = [
  { value: "never", label: "Never", days: null },
  { value: "30", label: "In 30 days", days: 30 },
  { value: "90", label: "In 90 days", days: 90 },
  { value: "365", label: "In a year", days: 365 },
  { value: "date", label: "On a date", days: null },
] as const;

/**
 * A chosen expiry, as typed. `kept`: the time that is set already. `none`: nothing is chosen yet. `date`:
 * `YYYY-MM-DD`, for the choice `date`.
 */
export type ExpiryDraft = { expiry: (typeof EXPIRIES)[number]["value"] | "kept" | "none"; date: string };

/**
 * The value to send for a draft, null for never; and an issue if nothing or no valid date is chosen. Days end in
 * `timeZone`.
 */
export function readExpiry(
  { expiry, date }: ExpiryDraft,
  { now, timeZone, kept = null }: { now: number; timeZone: string; kept?: string | null },
): { sent: { expiresAt: string | null }; issues: Record<string, string> } {
  const issues: Record<string, string> = {};
  const read = () => {
    if (expiry === "kept") return kept;
    if (expiry === "none") issues["/expiresAt"] = "Choose when it expires.";
    if (expiry === "date") {
      const end = readZonedTime(`${date}T23:59:59`, timeZone);
      if (end !== null) return end.toISOString();
      issues["/expiresAt"] = "Choose a date.";
    }
    const days = EXPIRIES.find(({ value }) => value === expiry)?.days;
    return days ? new Date(now + days * DAY_MS).toISOString() : null;
  };
  return { sent: { expiresAt: read() }, issues };
}
