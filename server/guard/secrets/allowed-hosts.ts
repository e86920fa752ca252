import type { Secret } from "@/server/base/db/generated/client";

export type SecretHosts = Pick<Secret, "sealed" | "allowedHosts" | "confirmedHosts">;

/**
 * The allowed hosts that were added after the value was set. They may not receive it: otherwise an admin could send
 * the value to a host of their own and read it there.
 */
export function waitingHostsOf({ sealed, allowedHosts, confirmedHosts }: SecretHosts): string[] {
  return sealed === null ? [] : allowedHosts.filter((host) => !confirmedHosts.includes(host));
}
