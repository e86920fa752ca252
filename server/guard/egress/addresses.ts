import { isIP, type LookupFunction } from "node:net";
import ipaddr from "ipaddr.js";
import { EgressError, rejectedCall } from "@/server/guard/egress/failures";
import { answerLookup } from "@/server/guard/egress/resolve-names";

// Azure's platform services.
const REJECTED_V4 = new Set(["168.63.129.16"]);

/**
 * Returns true if an IP address is on the public internet. Every IPv6 form that contains an IPv4 address (mapped,
 * NAT64, 6to4, Teredo) is rejected, because it could lead to a private one.
 */
export function isPublicAddress(address: string): boolean {
  let parsed: ipaddr.IPv4 | ipaddr.IPv6;
  try {
    parsed = ipaddr.parse(address);
  } catch {
    return false;
  }
  if (parsed instanceof ipaddr.IPv4)
    return parsed.range() === "unicast" && !REJECTED_V4.has(parsed.toString());
  // Only 2000::/3 is handed out for public use; the ranges inside it that are not are named by ipaddr.js.
  return parsed.range() === "unicast" && ((parsed.parts[0] ?? 0) & 0xe000) === 0x2000;
}

/** The error for an address that is not public. `entry` is its `host:port`. */
export const privateAddressError = (host: string, entry: string) =>
  rejectedCall(
    `${host} is not a public address; calls to it are rejected. To allow it, the operator sets EGRESS_ALLOW=${entry}`,
  );

/**
 * Resolves a name and rejects it if any address is not public. The socket connects to exactly these addresses, so
 * DNS rebinding gains nothing.
 */
export function guardedLookup(resolve: LookupFunction): LookupFunction {
  return (hostname, options, callback) => {
    resolve(hostname, { ...options, all: true }, (error, found) => {
      if (error) return callback(error, []);
      const addresses = typeof found === "string" ? [{ address: found, family: isIP(found) }] : found;
      const isPublic = addresses.length > 0 && addresses.every(({ address }) => isPublicAddress(address));
      if (isPublic) answerLookup(addresses, options, callback);
      else callback(new EgressError(`${hostname} is not a public address`, { kind: "not_public" }), []);
    });
  };
}
