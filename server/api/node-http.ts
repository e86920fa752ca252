import type { IncomingMessage, ServerResponse } from "node:http";
import { PEER_ADDRESS_HEADER } from "@/server/api/client-address";

/** Beyond what a refused body may still send so that its sender gets to read the answer, the connection is cut. */
const DRAIN_BYTES = 64 * 1024 * 1024;

/** A request that no Web Request can say: an impossible method, target or header. */
export class UnspeakableRequestError extends Error {
  override name = "UnspeakableRequestError";
}

/**
 * The target of a request as a URL under `origin`. The path is kept as it was sent, malformed escapes included;
 * only dot segments are resolved, as every URL does. Throws UnspeakableRequestError.
 */
export function targetOf(incoming: IncomingMessage, origin: string): URL {
  const target = incoming.url ?? "/";
  // Concatenated, because `new URL(target, origin)` takes the host from a target like `//host/path`.
  const text = target.startsWith("/") ? `${origin}${target}` : target;
  if (!URL.canParse(text)) throw new UnspeakableRequestError("The request's target is not a path.");
  const url = new URL(text);
  // The absolute form names whatever host the client likes.
  return target.startsWith("/") ? url : new URL(`${origin}${url.pathname}${url.search}`);
}

/** The address of the connected peer; IPv4 in its own form also on a dual-stack socket. */
export function peerAddress(incoming: IncomingMessage): string {
  return (incoming.socket.remoteAddress ?? "unknown").replace(/^::ffff:(?=[\d.]+$)/, "");
}

/**
 * The Web Request of a node request, with the peer's address in PEER_ADDRESS_HEADER. The body streams: whoever reads
 * it decides how much; when they cancel, the rest is read and thrown away, within limits, so that the sender gets the
 * answer. Throws UnspeakableRequestError.
 */
export function toWebRequest(incoming: IncomingMessage, url: URL): Request {
  const { method = "GET", rawHeaders } = incoming;
  try {
    const headers = new Headers();
    for (let index = 0; index + 1 < rawHeaders.length; index += 2) {
      headers.append(rawHeaders[index] ?? "", rawHeaders[index + 1] ?? "");
    }
    headers.set(PEER_ADDRESS_HEADER, peerAddress(incoming));
    if (method === "GET" || method === "HEAD" || method === "TRACE") {
      discard(incoming);
      // A Web Request cannot say TRACE. Nothing here takes either of the two, so they are refused alike.
      return new Request(url, { method: method === "TRACE" ? "OPTIONS" : method, headers });
    }
    // Required for streamed bodies, and not yet in TypeScript's own description of fetch.
    const init: RequestInit & { duplex: "half" } = {
      method,
      headers,
      body: bodyOf(incoming),
      duplex: "half",
    };
    return new Request(url, init);
  } catch (cause) {
    throw new UnspeakableRequestError("The request's method or headers are not possible.", { cause });
  }
}

function bodyOf(incoming: IncomingMessage): ReadableStream<Uint8Array> {
  let settled = false;
  return new ReadableStream<Uint8Array>({
    start(controller) {
      incoming.on("data", (chunk: Buffer) => {
        if (settled) return;
        controller.enqueue(chunk);
        if ((controller.desiredSize ?? 0) <= 0) incoming.pause();
      });
      incoming.once("end", () => {
        if (!settled) controller.close();
        settled = true;
      });
      const fail = (error?: Error): void => {
        if (!settled) controller.error(error ?? new Error("The client went away."));
        settled = true;
      };
      incoming.once("error", fail);
      incoming.once("close", fail);
      incoming.pause();
    },
    pull() {
      incoming.resume();
    },
    cancel() {
      settled = true;
      discard(incoming);
    },
  });
}

function discard(incoming: IncomingMessage): void {
  let bytes = 0;
  incoming.on("data", (chunk: Buffer) => {
    bytes += chunk.byteLength;
    if (bytes > DRAIN_BYTES) incoming.destroy();
  });
  incoming.on("error", () => {});
  incoming.resume();
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

/** Sends a Web Response with `extra` headers; does nothing more once the client is gone. */
export async function sendWebResponse(
  outgoing: ServerResponse,
  response: Response,
  extra: Readonly<Record<string, string>>,
): Promise<void> {
  const body = response.body === null ? undefined : Buffer.from(await response.arrayBuffer());
  if (outgoing.destroyed) return;
  outgoing.statusCode = response.status;
  for (const [name, value] of Object.entries(extra)) outgoing.setHeader(name, value);
  for (const [name, value] of response.headers) outgoing.appendHeader(name, value);
  outgoing.end(body);
}
