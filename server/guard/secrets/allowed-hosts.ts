import type { Secret } from "@/server/base/db/generated/client";

export type SecretHosts = Pick<Secret, "sealed" | "allowedHosts" | "confirmedHosts">;

/**
 * The allowed hosts that may not receive the value yet, because they were added after it was set. Otherwise an admin
 * could send the value to a host of their own and read it there.
 */
export function waitingHostsOf({ sealed, allowedHosts, confirmedHosts }: SecretHosts): string[] {
  return sealed === null ? [] : allowedHosts.filter((host) => !confirmedHosts.includes(host));
}
