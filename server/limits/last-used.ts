/** How often the last use of an API key or secret is stored. */
export const LAST_USED_EVERY_MS = 60_000;
