import { entryOf } from "@/server/guard/egress/outgoing-request";

const MAX_LENGTH = 2_048;

/**
 * Checks an address that events are sent to: https, or one that EGRESS_ALLOW names. The answer is the address as it is
 * stored, or what is wrong with it, as the end of a sentence about it.
 */
export function readCallbackAddress(
  text: string,
  allow: readonly string[],
): { url: string } | { issue: string } {
  if (text.length > MAX_LENGTH) return { issue: `must have at most ${MAX_LENGTH} characters` };
  // A list of two addresses has a space.
  if (!/^[!-~]+$/.test(text) || !URL.canParse(text)) {
    return { issue: "must be one address such as https://example.com/runs, with other characters encoded" };
  }
  const url = new URL(text);
  if (url.username !== "" || url.password !== "") return { issue: "must not have a user name or password" };
  if (url.protocol === "https:") return { url: url.href };
  if (url.protocol === "http:" && allow.includes(entryOf(url))) return { url: url.href };
  return { issue: "must begin with https://" };
}
