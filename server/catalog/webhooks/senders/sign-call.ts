import { sha256 } from "@/server/base/sha256";
import type { SignatureRule } from "./presets";
import { hmac, keyOf } from "./signed-call";
import { fillSigningString } from "./signing-string";

/**
 * The headers that sign a JSON call, by lower-case name, and the query parameters that it needs. `isSigned` accepts
 * them; `id` is the call's.
 */
export function signCall(
  rule: SignatureRule,
  secret: string,
  { id, body, url, now }: { id: string; body: Uint8Array; url: string; now: Date },
): { headers: [name: string, value: string][]; query: string } {
  if (rule.kind === "token") return { headers: [[rule.header, secret]], query: "" };
  const { bodyHashQuery: hashName, timestamp: clock, idHeader, layout, prefix } = rule;
  const query = hashName === undefined ? "" : `${hashName}=${sha256(body).toString("hex")}`;
  const timestamp = String(Math.floor(now.getTime() / 1000));
  const values = { timestamp, id, body, url: query === "" ? url : `${url}?${query}`, form: "" };
  const digest = hmac(
    rule,
    keyOf(rule, secret),
    fillSigningString(rule.signingString, values) ?? [],
  ).toString(rule.encoding);
  const signature = rule.isPrefixOptional ? digest : prefix + digest;
  const headers: [string, string][] = [
    [rule.header, layout === "pairs" ? `${clock?.in}=${timestamp},${signature}` : signature],
  ];
  if (clock && layout !== "pairs") headers.push([clock.in, timestamp]);
  if (idHeader !== undefined) headers.push([idHeader, id]);
  return { headers, query };
}
