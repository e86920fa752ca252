import ipaddr from "ipaddr.js";

/** Returns true if a host is this machine itself. */
export function isLoopback(host: string): boolean {
  return host === "localhost" || (ipaddr.isValid(host) && ipaddr.process(host).range() === "loopback");
}
