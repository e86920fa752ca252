import { Readable, Transform, type TransformCallback } from "node:stream";
import type { ReadableStream as WebStream } from "node:stream/web";
import {
  type BrotliDecompress,
  createBrotliDecompress,
  createInflate,
  createInflateRaw,
  type Inflate,
  type InflateRaw,
} from "node:zlib";
import type { Dispatcher } from "undici";
import { EgressError, responseTooLarge } from "@/server/guard/egress/failures";
import { Gunzip } from "./gunzip";

/**
 * Bodies are decoded here, because fetch takes a compressed body that ends early for a complete one
 * (oven-sh/bun#34922).
 */

// Holds Content-Encoding while a response passes through fetch, which would decode by it.
const MOVED = "stepwell-content-encoding";
const MAX_CODINGS = 2;
// A decoder takes at most this multiple of the response's limit: kilobytes can hold gigabytes that a further decoder
// ignores. Compressed parts of a few bytes are larger than their content.
const MOST_TAKEN = 8;

export const keepEncoded: Dispatcher.DispatcherComposeInterceptor = (dispatch) => (options, handler) =>
  dispatch(options, {
    onRequestStart: (...start) => handler.onRequestStart?.(...start),
    onRequestUpgrade: (...upgrade) => handler.onRequestUpgrade?.(...upgrade),
    onResponseStart(...[controller, status, sent, message]) {
      const { [MOVED]: _, "content-encoding": codings, ...headers } = sent;
      const moved = codings === undefined ? headers : { ...headers, [MOVED]: codings };
      handler.onResponseStart?.(controller, status, moved, message);
    },
    onResponseData: (...data) => handler.onResponseData?.(...data),
    onResponseEnd: (...end) => handler.onResponseEnd?.(...end),
    onResponseError: (...failure) => handler.onResponseError?.(...failure),
  });

export const isEncoded = (headers: { has(name: string): boolean }) => headers.has(MOVED);

/** The headers as the server sent them. */
export const sentHeaders = (headers: Iterable<[string, string]>): [string, string][] =>
  [...headers].map(([name, value]) => [name === MOVED ? "content-encoding" : name, value]);

/**
 * Decodes a body of a dispatcher with `keepEncoded`, for a reader that takes at most `maxBytes`. A body with an unknown
 * coding stays as it is. Throws EgressError.
 */
export function decodeBody(
  body: WebStream<Uint8Array>,
  headers: { get(name: string): string | null },
  maxBytes: number,
): WebStream<Uint8Array> {
  const codings = (headers.get(MOVED) ?? "").toLowerCase().split(",");
  const named = codings.map((coding) => coding.trim()).filter((coding) => coding !== "");
  if (named.length > MAX_CODINGS)
    throw new EgressError(
      `The response has too many content-encodings: ${named.length}, at most ${MAX_CODINGS} are decoded.`,
    );
  const known = named.flatMap((coding) => DECODERS[coding] ?? []).reverse();
  if (named.length === 0 || known.length < named.length) return body;
  const decoded = known.reduce<Readable>((from, create) => {
    const decoder = new Decoder(create, maxBytes);
    from.on("error", (error) => decoder.destroy(error));
    decoder.on("close", () => from.destroy());
    return from.pipe(decoder);
  }, Readable.fromWeb(body));
  return Readable.toWeb(decoded);
}

type Zlib = Gunzip | Inflate | InflateRaw | BrotliDecompress;
type CreateZlib = (first: number | undefined) => Zlib;

const DECODERS: Record<string, CreateZlib> = {
  gzip: () => new Gunzip(),
  "x-gzip": () => new Gunzip(),
  br: () => createBrotliDecompress(),
  // Some servers leave out the format's own head.
  deflate: (first = 0) => ((first & 0x0f) === 0x08 ? createInflate() : createInflateRaw()),
};

/**
 * Starts with the first byte: servers name a coding also for an empty body. Ignores bytes behind the end of the content.
 */
class Decoder extends Transform {
  readonly #create: CreateZlib;
  readonly #maxBytes: number;
  #taken = 0;
  #zlib: Zlib | undefined;
  #pending: TransformCallback | undefined;

  constructor(create: CreateZlib, maxBytes: number) {
    super();
    this.#create = create;
    this.#maxBytes = maxBytes;
  }

  override _transform(chunk: Uint8Array, _encoding: BufferEncoding, callback: TransformCallback): void {
    this.#taken += chunk.length;
    if (this.#taken > this.#maxBytes * MOST_TAKEN) {
      callback(responseTooLarge(this.#maxBytes));
      return;
    }
    this.#zlib ??= this.#open(chunk[0]);
    this.#pending = callback;
    if (this.#zlib.readableEnded) this.#settle();
    // The listener of errors describes them.
    else this.#zlib.write(chunk, (error) => error ?? this.#settle());
  }

  override _flush(callback: TransformCallback): void {
    this.#pending = callback;
    if (this.#zlib === undefined || this.#zlib.readableEnded) this.#settle();
    else this.#zlib.end();
  }

  #settle(): void {
    const callback = this.#pending;
    this.#pending = undefined;
    callback?.();
  }

  override _destroy(error: Error | null, callback: (error: Error | null) => void): void {
    this.#zlib?.destroy();
    callback(error);
  }

  #open(first: number | undefined): Zlib {
    const zlib = this.#create(first);
    zlib.on("data", (chunk) => {
      if (!this.push(chunk)) zlib.pause();
    });
    // A write is not called back if bytes follow the end of the content.
    zlib.on("end", () => this.#settle());
    zlib.on("error", (cause) => this.destroy(new EgressError(describe(cause), { kind: "network", cause })));
    return zlib;
  }

  override _read(size: number): void {
    this.#zlib?.resume();
    super._read(size);
  }
}

const describe = ({ message }: Error) =>
  message === "unexpected end of file"
    ? "The compressed response ends too early."
    : `Could not decompress the response: ${message.slice(0, 100)}.`;
