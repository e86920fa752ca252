import { isIPv6 } from "node:net";

/** The first 64 bits of an IPv6 address, which its holder cannot choose freely. */
const NETWORK_GROUPS = 4;

/**
 * The key under which guards count an address: IPv4 unchanged, IPv6 by its network, since one holder has all its
 * addresses. Bounded in length, whatever a proxy sends.
 */
export function guardKey(address: string): string {
  if (!isIPv6(address)) return address.slice(0, 64);
  const [head = "", tail] = address.toLowerCase().split("%", 1).join("").split("::");
  const groups = head === "" ? [] : head.split(":");
  const behind = tail === undefined || tail === "" ? [] : tail.split(":");
  const missing = tail === undefined ? 0 : Math.max(0, 8 - groups.length - behind.length);
  const all = [...groups, ...Array.from({ length: missing }, () => "0"), ...behind];
  return all
    .slice(0, NETWORK_GROUPS)
    .map((group) => group.replace(/^0+(?=.)/, ""))
    .join(":");
}
