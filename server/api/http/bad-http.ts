import { type IncomingMessage, STATUS_CODES } from "node:http";
import type { Duplex } from "node:stream";
import { newId } from "@/server/ids";

/** Answers invalid HTTP on the raw socket with the contract's error body. */
export function respondToBadHttp(error: Error & { code?: string }, socket: Duplex): void {
  if (error.code === "ECONNRESET" || !socket.writable) return void socket.destroy();
  const statuses: Record<string, number> = { HPE_HEADER_OVERFLOW: 431, ERR_HTTP_REQUEST_TIMEOUT: 408 };
  const status = statuses[error.code ?? ""] ?? 400;
  const requestId = newId();
  const body = errorBodyOfStatus(status, requestId);
  socket.end(
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\nContent-Type: application/json; charset=utf-8\r\n` +
      `X-Request-Id: ${requestId}\r\n` +
      `Content-Length: ${Buffer.byteLength(body)}\r\nConnection: close\r\n\r\n${body}`,
  );
}

/** Refuses CONNECT, as a listener of the server's "connect" event. */
export function refuseTunnel(_incoming: IncomingMessage, socket: Duplex): void {
  // Node no longer handles this socket: an error would end the process, and an idle client would keep it open.
  socket.on("error", () => {});
  socket.once("finish", () => socket.destroy());
  respondToBadHttp(new Error("CONNECT"), socket);
}

/** The contract's error body for requests that reach no handler. */
export function errorBodyOfStatus(status: number, requestId: string): string {
  const code = status === 500 ? "internal_error" : "invalid_request";
  const message =
    status === 500
      ? "Something failed on our side. The request id leads to the cause in the log."
      : "This is not a valid HTTP request.";
  return JSON.stringify({ success: false, code, message, requestId });
}
