import type { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { pipeline } from "node:stream";
import type { OrgId } from "@/server/base/actor";
import { AppError } from "@/server/base/errors";
import { MIB } from "@/server/contract/sizes";
import { ByteCollector } from "@/server/guard/limits/byte-collector";
import { bodyIncomplete, bodyTooLarge, readBody } from "@/server/guard/limits/read-body";
import { PEER_ADDRESS_HEADER } from "./client-address";
import { cutStalledReader, peerAddress, STALLED_READER_MS, STALLED_STREAM_MS } from "./node-http";

/**
 * The header with the path and query, which Next hides from server components and normalizes for route handlers.
 * The process sets it on every request, which overwrites a client's value.
 */
export const PAGE_ADDRESS_HEADER = "x-stepwell-page";

/** An API call as plain data, from a node request or a Web Request, so that both run the same code. */
export type ApiRequest = {
  method: string;
  /** As sent, without the query. */
  path: string;
  /** As sent, without "?". */
  query: string;
  header(name: string): string | null;
  headers(): Iterable<[string, string]>;
  peer: string;
  /** Aborted when the sender disconnects. Its later requests on the connection have the same: remove listeners. */
  readonly signal: AbortSignal;
  /**
   * Throws `payload_too_large` beyond `limit` bytes, whatever the Content-Length, and `invalid_request` if the
   * sender disconnects.
   */
  readBody(limit: number): Promise<Buffer>;
};

/** `events` is sent instead of the body, as it comes. The unread body counts for the organization. */
export type ApiResponse = {
  status: number;
  headers: Record<string, string>;
  body: string;
  events?: ReadableStream<Uint8Array>;
  orgId?: OrgId | undefined;
};

/** The most bytes that a body can have of which at most `limit` are read. */
export function boundBodyBytes({ header }: Pick<ApiRequest, "header">, limit: number): number {
  if (header("transfer-encoding") !== null) return limit;
  const declared = Number(header("content-length") ?? 0);
  return declared >= 0 && declared < limit ? declared : limit;
}

// Discards this much of a rejected body before closing, so that its sender can read the response.
const DRAIN_BYTES = 64 * MIB;

// Their size is unknown until they are unpacked.
function rejectEncoding(encoding: string | null | undefined): void {
  if (!encoding || encoding.trim().toLowerCase() === "identity") return;
  throw new AppError(
    "invalid_request",
    `The header Content-Encoding must not be set: "${encoding.slice(0, 40)}" bodies are not accepted.`,
    {
      status: 415,
      headers: { "Accept-Encoding": "identity" },
    },
  );
}

export function fromNode(incoming: IncomingMessage, path: string): ApiRequest {
  return {
    method: incoming.method ?? "GET",
    path,
    query: queryOf(incoming.url ?? ""),
    header(name) {
      const value = incoming.headers[name];
      return Array.isArray(value) ? value.join(", ") : (value ?? null);
    },
    *headers() {
      for (const [name, value] of Object.entries(incoming.headers)) {
        if (value !== undefined) yield [name, Array.isArray(value) ? value.join(", ") : value];
      }
    },
    peer: peerAddress(incoming),
    get signal() {
      return signalOf(incoming.socket);
    },
    async readBody(limit) {
      rejectEncoding(incoming.headers["content-encoding"]);
      return readNodeBody(incoming, limit);
    },
  };
}

const signals = new WeakMap<Socket, AbortSignal>();

function signalOf(socket: Socket): AbortSignal {
  const known = signals.get(socket);
  if (known !== undefined) return known;
  const closed = new AbortController();
  if (socket.destroyed) closed.abort();
  else socket.once("close", () => closed.abort());
  signals.set(socket, closed.signal);
  return closed.signal;
}

function queryOf(target: string): string {
  const [withoutFragment = ""] = target.split("#", 1);
  const start = withoutFragment.indexOf("?");
  return start < 0 ? "" : withoutFragment.slice(start + 1);
}

function readNodeBody(incoming: IncomingMessage, limit: number): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    if (Number(incoming.headers["content-length"] ?? 0) > limit) return reject(bodyTooLarge(limit));
    if (incoming.readableEnded) return resolve(Buffer.alloc(0));
    // Its sender left while the call waited: no event comes any more.
    if (incoming.destroyed) return reject(bodyIncomplete());
    const body = new ByteCollector();
    const done = (settle: () => void) => {
      incoming.off("data", onData).off("end", onEnd).off("error", onBroken).off("close", onBroken);
      settle();
    };
    const onData = (chunk: Buffer) => {
      if (body.size + chunk.length <= limit) body.add(chunk);
      else done(() => reject(bodyTooLarge(limit)));
    };
    const onEnd = () => done(() => resolve(body.finish()));
    const onBroken = (error?: Error) => done(() => reject(bodyIncomplete(error)));
    incoming.on("data", onData).once("end", onEnd).once("error", onBroken).once("close", onBroken);
  });
}

/** Reads and discards the rest of a body, within limits, so that its sender can read the response. */
export function drainRequest(incoming: IncomingMessage): void {
  if (incoming.readableEnded || incoming.destroyed) return;
  let bytes = 0;
  incoming.on("data", (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes > DRAIN_BYTES) incoming.destroy();
  });
  incoming.on("error", () => {});
  incoming.resume();
}

/**
 * Sends a response. `rawHeaders` are added: names and values in turn. Does nothing if the client has disconnected.
 * Returns true if a part of the body waits until the client reads.
 */
export function sendToNode(
  outgoing: ServerResponse,
  { status, headers, body, events }: ApiResponse,
  rawHeaders: readonly string[],
): boolean {
  if (outgoing.destroyed) {
    void events?.cancel();
    return false;
  }
  const raw = [...rawHeaders];
  if (events !== undefined) {
    for (const name in headers) raw.push(name, headers[name] ?? "");
    outgoing.writeHead(status, raw);
    // A stream may be silent at first.
    outgoing.flushHeaders();
    cutStalledReader(outgoing, STALLED_STREAM_MS);
    const reader = events.getReader();
    // A reader that leaves ends both.
    outgoing.once("close", () => void reader.cancel().catch(() => {}));
    pipeline(readAll(reader), outgoing, () => {});
    return false;
  }
  if (hasBody(status)) raw.push("Content-Length", String(Buffer.byteLength(body)));
  for (const name in headers) raw.push(name, headers[name] ?? "");
  outgoing.writeHead(status, raw);
  // Sends the text together with its head in one write.
  outgoing.end(body);
  if (outgoing.writableLength === 0) return false;
  cutStalledReader(outgoing, STALLED_READER_MS);
  return true;
}

// The length of a 304 would be that of the body that the client knows; that of a 204 is not allowed.
const hasBody = (status: number) => status !== 204 && status !== 304;

// Unlike a stream of Node, it reads nothing ahead.
async function* readAll(reader: ReadableStreamDefaultReader<Uint8Array>): AsyncGenerator<Uint8Array> {
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    yield value;
  }
}

/** Answers a Web Request with an API handler, for Next's route handlers and tests. */
export async function respondToWebRequest(
  request: Request,
  handle: (call: ApiRequest) => Promise<ApiResponse>,
): Promise<Response> {
  const { pathname, search } = new URL(request.url);
  const target = request.headers.get(PAGE_ADDRESS_HEADER) ?? pathname + search;
  const { status, headers, body, events } = await handle({
    method: request.method,
    path: target.split("?", 1)[0] ?? "",
    query: queryOf(target),
    header: (name) => request.headers.get(name),
    headers: () => request.headers,
    peer: request.headers.get(PEER_ADDRESS_HEADER) ?? "unknown",
    signal: request.signal,
    async readBody(limit) {
      rejectEncoding(request.headers.get("content-encoding"));
      return readBody(request, limit);
    },
  });
  return new Response(events ?? (hasBody(status) ? body : null), { status, headers });
}
