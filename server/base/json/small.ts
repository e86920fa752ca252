import { isJsonObject, type Json, keysOf } from "./json";

/**
 * Short work on what tenants send is done at once, other work in slices or in a thread with a time limit. Tenants'
 * patterns and loops always take a thread (docs/decisions/0022-work-on-what-tenants-send.md).
 */

/** The most steps of work at once. A step takes some ten nanoseconds, that of a failing check some two hundred. */
export const MOST_STEPS = 20_000;
// To copy or write a value, a key or `CHARACTERS` of a text.
const STEPS_TO_COPY = 20;
const CHARACTERS = 64;

/**
 * Returns true if work with `stepsEach` steps for each value, key and 64 characters can be done at once. Stops counting
 * at the limit.
 */
export function isSmall(value: Json, stepsEach = STEPS_TO_COPY): boolean {
  let left = MOST_STEPS / stepsEach;
  const open: Json[] = [value];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    left -= 1;
    if (typeof next === "string") left -= next.length / CHARACTERS;
    else if (Array.isArray(next)) {
      if (open.length + next.length > left) return false;
      for (const item of next) open.push(item);
    } else if (isJsonObject(next)) {
      const keys = keysOf(next);
      if (open.length + keys.length > left) return false;
      for (const key of keys) {
        left -= 1 + key.length / CHARACTERS;
        const member = next[key];
        if (member !== undefined) open.push(member);
      }
    }
    if (left < 0) return false;
  }
  return true;
}
