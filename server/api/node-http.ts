import type { IncomingMessage, ServerResponse } from "node:http";

/** The target of a request is neither a path nor a URL. */
export class InvalidTargetError extends Error {
  override name = "InvalidTargetError";
}

/**
 * The target of a request as a URL under `origin`. The path is kept as it was sent, malformed escapes included;
 * only dot segments are resolved, as every URL does. Throws InvalidTargetError.
 */
export function targetOf(incoming: IncomingMessage, origin: string): URL {
  const target = incoming.url ?? "/";
  // Concatenated, because `new URL(target, origin)` takes the host from a target like `//host/path`.
  const text = target.startsWith("/") ? `${origin}${target}` : target;
  if (!URL.canParse(text)) throw new InvalidTargetError("The request's target is not a path.");
  const url = new URL(text);
  // The absolute form names whatever host the client likes.
  return target.startsWith("/") ? url : new URL(`${origin}${url.pathname}${url.search}`);
}

/** The address of the connected peer; IPv4 in its own form also on a dual-stack socket. */
export function peerAddress(incoming: IncomingMessage): string {
  return (incoming.socket.remoteAddress ?? "unknown").replace(/^::ffff:(?=[\d.]+$)/, "");
}

/**
 * Cuts the connection of an answer whose reader takes nothing of what lies ready for it for `ms` (up to twice that, when it
 * stops in between). An answer that is long in coming is waited for, however long.
 */
export function cutStalledReader(outgoing: ServerResponse, ms: number): void {
  // The socket counts bytes that leave it as life, and begins anew with whatever is written next.
  outgoing.setTimeout(ms, () => {
    if (outgoing.writableLength > 0) outgoing.destroy();
  });
}
