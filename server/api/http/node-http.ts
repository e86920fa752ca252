import type { IncomingMessage, ServerResponse } from "node:http";

/** The request target is neither a path nor a URL. */
export class InvalidTargetError extends Error {
  override name = "InvalidTargetError";
}

/**
 * The request target as a URL under `origin`. The path stays as sent, including malformed escapes; only dot segments
 * are resolved. Throws InvalidTargetError.
 */
export function targetOf(incoming: IncomingMessage, origin: string): URL {
  const target = incoming.url ?? "/";
  // Concatenated, because `new URL(target, origin)` takes the host from a target like `//host/path`.
  const text = target.startsWith("/") ? `${origin}${target}` : target;
  if (!URL.canParse(text)) throw new InvalidTargetError("The request's target is not a path.");
  const url = new URL(text);
  // In the absolute form the client chooses the host.
  return target.startsWith("/") ? url : new URL(`${origin}${url.pathname}${url.search}`);
}

/** The address of the connected peer; IPv4 in its own form even on a dual-stack socket. */
export function peerAddress(incoming: IncomingMessage): string {
  return (incoming.socket.remoteAddress ?? "unknown").replace(/^::ffff:(?=[\d.]+$)/, "");
}

/**
 * Closes the connection of a response whose reader takes none of the written data for `ms` (at most twice that). It
 * does not limit how long a response takes to be written.
 */
export function cutStalledReader(outgoing: ServerResponse, ms: number): void {
  // The socket treats sent bytes as activity, and restarts its timeout with each write.
  outgoing.setTimeout(ms, () => {
    if (outgoing.writableLength > 0) outgoing.destroy();
  });
}
