/** The start of better-auth's names. */
export const AUTH_COOKIE_PREFIX = "stepwell";

/** Choices of a browser that pages are rendered with. */
const CHOICE_COOKIES = ["theme", "tz", "zone", "columns"] as const;
export type ChoiceCookie = (typeof CHOICE_COOKIES)[number];

const OWN_NAME = new RegExp(`^(${CHOICE_COOKIES.join("|")}|(__Secure-)?${AUTH_COOKIE_PREFIX}\\.[\\w.-]+)$`);
// More than a browser has of ours.
const MAX_OWN_COOKIES = 16;

/** A Cookie header with our own cookies only, the first of each name; undefined if it has none. */
export function keepOwnCookies(header: string | undefined): string | undefined {
  if (header === undefined) return undefined;
  const own = new Map<string, string>();
  for (const pair of header.split(";")) {
    const [name = ""] = pair.split("=", 1);
    const key = name.trim();
    if (OWN_NAME.test(key) && !own.has(key)) own.set(key, pair.trim());
    if (own.size === MAX_OWN_COOKIES) break;
  }
  return own.size === 0 ? undefined : [...own.values()].join("; ");
}
