import { type IncomingMessage, type ServerResponse, STATUS_CODES } from "node:http";
import type { Duplex } from "node:stream";
import { newId } from "@/server/base/ids";
import { type ErrorCode, INTERNAL_ERROR_MESSAGE } from "@/server/contract/errors";
import { JSON_CONTENT } from "@/server/contract/media-types";

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
  return unmappedAddress(incoming.socket.remoteAddress ?? "unknown");
}

/** IPv4 without the prefix that a dual-stack socket gives it. */
export const unmappedAddress = (address: string): string => address.replace(/^::ffff:(?=[\d.]+$)/i, "");

/** A response whose reader takes nothing for this long, such as an export, ends with its connection. */
export const STALLED_READER_MS = 120_000;
/** Shorter than for other responses, because a live stream continues where it left off. */
export const STALLED_STREAM_MS = 60_000;

/**
 * Closes the connection if the reader takes no data for `ms` (at most twice that). The time to write a response is
 * not limited.
 */
export function cutStalledReader(outgoing: ServerResponse, ms: number): void {
  // The socket treats sent bytes as activity, and restarts its timeout with each write.
  outgoing.setTimeout(ms, () => {
    if (outgoing.writableLength > 0) outgoing.destroy();
  });
}

/** Answers invalid HTTP on the raw socket with the contract's error body. */
export function respondToBadHttp(error: Error & { code?: string }, socket: Duplex): void {
  if (error.code === "ECONNRESET" || !socket.writable) return void socket.destroy();
  const statuses: Record<string, number> = { HPE_HEADER_OVERFLOW: 431, ERR_HTTP_REQUEST_TIMEOUT: 408 };
  const status = statuses[error.code ?? ""] ?? 400;
  const requestId = newId();
  const body = errorBodyOfStatus(status, requestId);
  socket.end(
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\nContent-Type: ${JSON_CONTENT}\r\n` +
      `X-Request-Id: ${requestId}\r\n` +
      `Content-Length: ${Buffer.byteLength(body)}\r\nConnection: close\r\n\r\n${body}`,
  );
}

/** Rejects CONNECT, as a listener of the server's "connect" event. */
export function rejectTunnel(_incoming: IncomingMessage, socket: Duplex): void {
  // Node no longer handles this socket: an error would end the process, and an idle client would keep it open.
  socket.on("error", () => {});
  socket.once("finish", () => socket.destroy());
  respondToBadHttp(new Error("CONNECT"), socket);
}

const CODES: Record<number, ErrorCode> = {
  404: "not_found",
  405: "method_not_allowed",
  500: "internal_error",
};

/** The contract's error body for requests that reach no handler. */
export function errorBodyOfStatus(status: number, requestId: string): string {
  const code = CODES[status] ?? "invalid_request";
  const message = status === 500 ? INTERNAL_ERROR_MESSAGE : "This is not a valid HTTP request.";
  return JSON.stringify({ success: false, code, message, requestId });
}
