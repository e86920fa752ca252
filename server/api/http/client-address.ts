import type { IncomingMessage } from "node:http";
import type { Environment } from "@/server/base/settings/env";
import type { Services } from "@/server/services";
import { unmappedAddress } from "./node-http";

/**
 * The header with the peer's address for route handlers. The process sets it on every request, which overwrites a
 * client's value.
 */
export const PEER_ADDRESS_HEADER = "x-stepwell-peer";

/** The client's address: the peer's, or with TRUST_PROXY the last address that the proxy appended. */
export function clientAddress(
  { trustProxy }: Pick<Environment, "trustProxy">,
  call: { peer: string; header(name: string): string | null },
): string {
  if (!trustProxy) return call.peer;
  const forwarded = call.header("x-forwarded-for")?.split(",").at(-1)?.trim();
  return forwarded ? bareAddress(forwarded) : call.peer;
}

// Some proxies write the client's port, IPv6 in brackets, or IPv4 as a dual-stack socket has it.
const IPV4_WITH_PORT = /^([\d.]+):\d+$/;
const IN_BRACKETS = /^\[([^[\]]*)\](?::\d+)?$/;

function bareAddress(entry: string): string {
  const [, address = entry] = IN_BRACKETS.exec(entry) ?? IPV4_WITH_PORT.exec(entry) ?? [];
  return unmappedAddress(address);
}

/**
 * Creates a check that warns once per process if a proxy is in front and TRUST_PROXY is not set. All clients would
 * then share one address and its limits.
 */
export function createProxyWarning({ env, log }: Pick<Services, "env" | "log">) {
  let isDue = !env.trustProxy;
  return ({ headers }: IncomingMessage): void => {
    if (!isDue || headers["x-forwarded-for"] === undefined) return;
    isDue = false;
    log.warn(
      "A request has X-Forwarded-For, and TRUST_PROXY is not set: all clients of a proxy share its address, and the " +
        "limits for one address. If your proxy sets this header, set TRUST_PROXY=1.",
    );
  };
}

export function clientAddressOf(env: Pick<Environment, "trustProxy">, { headers }: Request): string {
  const peer = headers.get(PEER_ADDRESS_HEADER) ?? "unknown";
  return clientAddress(env, { peer, header: (name) => headers.get(name) });
}
