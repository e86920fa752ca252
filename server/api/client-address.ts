import type { Environment } from "@/server/env";

export { guardKey } from "@/server/limits/guard-key";

/**
 * The header in which the process (serve.ts, serve-next.ts) hands the peer's address to route handlers. It sets it on every
 * request and drops what a client sent under this name.
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

/** The same of a Web Request. */
export function clientAddressOf(env: Pick<Environment, "trustProxy">, { headers }: Request): string {
  const peer = headers.get(PEER_ADDRESS_HEADER) ?? "unknown";
  return clientAddress(env, { peer, header: (name) => headers.get(name) });
}
