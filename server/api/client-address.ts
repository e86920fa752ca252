import type { Environment } from "@/server/env";

/**
 * The header that passes the peer's address from the process (serve.ts, serve-next.ts) to route handlers. It is set on
 * every request, which overwrites a client's value.
 */
export const PEER_ADDRESS_HEADER = "x-stepwell-peer";

/** The client's address: the peer's, or with TRUST_PROXY the last address that the proxy appended. */
export function clientAddress(
  { trustProxy }: Pick<Environment, "trustProxy">,
  call: { peer: string; header(name: string): string | null },
): string {
  if (!trustProxy) return call.peer;
  const forwarded = call.header("x-forwarded-for")?.split(",").at(-1)?.trim();
  return forwarded || call.peer;
}

/** The client's address of a Web Request. */
export function clientAddressOf(env: Pick<Environment, "trustProxy">, { headers }: Request): string {
  const peer = headers.get(PEER_ADDRESS_HEADER) ?? "unknown";
  return clientAddress(env, { peer, header: (name) => headers.get(name) });
}
