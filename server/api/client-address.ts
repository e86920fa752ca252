import { isIPv6 } from "node:net";
import type { Environment } from "@/server/env";

/**
 * The header in which the process (serve.ts) hands the peer's address to the doors. It sets it on every request and
 * drops whatever a client sent under this name; where Next runs alone nobody does, and limits by address mean little.
 */
export const PEER_ADDRESS_HEADER = "x-stepwell-peer";

/** The part of an IPv6 address that its holder cannot choose freely: the first 64 bits. */
const NETWORK_GROUPS = 4;

/**
 * What guards count an address under: IPv4 as it is, IPv6 by its network, since one holder has all the addresses in it.
 * Never longer than an address is, whatever a proxy handed on.
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

/** The client's address: the peer's, or with TRUST_PROXY the last address that the proxy appended. */
export function clientAddress(
  { trustProxy }: Pick<Environment, "trustProxy">,
  call: { peer: string; header(name: string): string | null },
): string {
  if (!trustProxy) return call.peer;
  const forwarded = call.header("x-forwarded-for")?.split(",").at(-1)?.trim();
  return forwarded || call.peer;
}

/** The same of a Web Request. */
export function clientAddressOf(env: Pick<Environment, "trustProxy">, { headers }: Request): string {
  const peer = headers.get(PEER_ADDRESS_HEADER) ?? "unknown";
  return clientAddress(env, { peer, header: (name) => headers.get(name) });
}
