export const EXPIRIES = [
  { value: "never", label: "Never", days: null },
  { value: "30", label: "In 30 days", days: 30 },
  { value: "90", label: "In 90 days", days: 90 },
  { value: "365", label: "In a year", days: 365 },
  { value: "date", label: "On a date", days: null },
] as const;

/** `kept`: the time that is set already. */
type ExpiryChoice = (typeof EXPIRIES)[number]["value"] | "kept";

/** A chosen expiry, as typed. */
export type ExpiryDraft = {
  expiry: ExpiryChoice;
  /** `YYYY-MM-DD`, for the choice `date`. */
  date: string;
};

const DAY_MS = 24 * 3600 * 1000;

/** The time that a draft describes; null: never, undefined: no valid date. */
export function readExpiry(
  { expiry, date }: ExpiryDraft,
  { now, kept = null }: { now: number; kept?: string | null },
): string | null | undefined {
  if (expiry === "kept") return kept;
  const preset = EXPIRIES.find(({ value }) => value === expiry);
  if (preset?.days) return new Date(now + preset.days * DAY_MS).toISOString();
  if (expiry !== "date") return null;
  const end = new Date(`${date}T23:59:59`);
  return Number.isNaN(end.getTime()) ? undefined : end.toISOString();
}
