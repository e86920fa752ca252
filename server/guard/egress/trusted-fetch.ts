import { Agent, type Dispatcher } from "undici";
import { readJson } from "@/server/base/json/json";
import { MIB } from "@/server/contract/sizes";
import { EgressError, explainFailure, responseTooLarge } from "@/server/guard/egress/failures";

export type TrustedEgressOptions = {
  /** Applies to a body that is read as one text or document; 16 MiB by default. */
  maxBodyBytes?: number;
  /** Applies to a body that is read chunk by chunk; 64 MiB by default. */
  maxStreamBytes?: number;
  /** The longest silence of a server; 600,000 by default. */
  silenceMs?: number;
};

const CONNECTIONS_PER_ORIGIN = 256;

/** Returning false leaves the rest unread. A promise delays the next chunk, and the end. */
type OnChunk = (chunk: Uint8Array) => unknown;

type Limits = { maxBodyBytes: number; maxStreamBytes: number; explain: (error: unknown) => Error };

export type EgressFetch = (url: string | URL, init?: RequestInit) => Promise<Response>;

/** A client for outbound calls. `close` ends its connections. */
export type Egress<Fetch = EgressFetch> = { fetch: Fetch; close(): Promise<void> };

/**
 * The HTTP client for addresses that the operator configured, private ones too. It neither follows redirects nor
 * decompresses. The caller's signal sets the time limit. Throws EgressError, or the signal's reason.
 */
export function createTrustedEgress(options: TrustedEgressOptions = {}): Egress {
  const { maxBodyBytes = 16 * MIB, maxStreamBytes = 64 * MIB, silenceMs = 600_000 } = options;
  const agent = new Agent({
    connect: { timeout: 10_000 },
    connections: CONNECTIONS_PER_ORIGIN,
    // undici closes after 4 s: a model's next call often comes later, and would wait for TLS again.
    keepAliveTimeout: 30_000,
    headersTimeout: silenceMs,
    bodyTimeout: silenceMs,
  });
  const fetch: EgressFetch = async (address, init = {}) => {
    const url = typeof address === "string" ? new URL(address) : address;
    const { body = null, signal = null } = init;
    if (body !== null && typeof body !== "string") throw new TypeError("Only text can be sent.");
    const explain = (error: unknown): Error => {
      if (signal?.aborted && signal.reason instanceof Error) return signal.reason;
      return explainFailure(error, url.host);
    };
    try {
      const response = await agent.request({
        origin: url.origin,
        path: url.pathname + url.search,
        method: init.method ?? "GET",
        headers: plainHeaders(init.headers),
        body,
        signal,
      });
      return new TrustedResponse(response, { maxBodyBytes, maxStreamBytes, explain });
    } catch (error) {
      throw explain(error);
    }
  };
  return { fetch, close: () => agent.destroy() };
}

// Without it, a server may compress as it likes (RFC 9110, section 12.5.3).
const UNCOMPRESSED = { "accept-encoding": "identity" };

// An object stays one, because `Headers` is slow.
function plainHeaders(headers: RequestInit["headers"]): Record<string, string> {
  const isObject = headers !== undefined && !(headers instanceof Headers) && !Array.isArray(headers);
  return { ...(isObject ? headers : Object.fromEntries(new Headers(headers))), ...UNCOMPRESSED };
}

/** Can be read once. Fails with EgressError if its body is too large or breaks off. */
class TrustedResponse extends Response {
  readonly #source: Dispatcher.ResponseData["body"];
  readonly #limits: Limits;
  #used = false;
  #stream: ReadableStream<Uint8Array<ArrayBuffer>> | undefined;

  constructor({ statusCode, statusText, headers, body }: Dispatcher.ResponseData, limits: Limits) {
    super(null, { status: statusCode, statusText });
    // Cheaper than as an option of the constructor.
    for (const name in headers) {
      const value = headers[name] ?? [];
      if (typeof value === "string") this.headers.append(name, value);
      else for (const each of value) this.headers.append(name, each);
    }
    this.#source = body;
    this.#limits = limits;
  }

  override get bodyUsed(): boolean {
    return this.#used;
  }

  /** `readChunks` is cheaper. */
  override get body(): ReadableStream<Uint8Array<ArrayBuffer>> {
    this.#stream ??= toWebStream(this.#chunks());
    return this.#stream;
  }

  async *#chunks(): AsyncGenerator<Uint8Array<ArrayBuffer>, undefined> {
    const source = this.#take();
    const { maxStreamBytes, explain } = this.#limits;
    let total = 0;
    try {
      for await (const chunk of source) {
        total += chunk.byteLength;
        if (total > maxStreamBytes) throw responseTooLarge(maxStreamBytes);
        yield chunk;
      }
    } catch (error) {
      throw explain(error);
    }
  }

  /** As the function of this name. */
  readChunks(onChunk: OnChunk, maxBytes = this.#limits.maxStreamBytes): Promise<void> {
    const source = this.#take();
    return new Promise((resolve, reject) => {
      let total = 0;
      let work: Promise<void> | undefined;
      const stop = (error: unknown) => {
        reject(error);
        source.destroy();
      };
      source.on("data", (chunk: Buffer<ArrayBuffer>) => {
        total += chunk.byteLength;
        try {
          if (total > maxBytes) throw responseTooLarge(maxBytes);
          const result = onChunk(chunk);
          if (result instanceof Promise) {
            source.pause();
            work = result.then(() => void source.resume(), stop);
          } else if (result === false) {
            resolve();
            source.destroy();
          }
        } catch (error) {
          stop(error);
        }
      });
      const afterWork = (end: () => void) => (work === undefined ? end() : void work.then(end));
      source.on("end", () => afterWork(resolve));
      const fail = () =>
        afterWork(() => reject(this.#limits.explain(source.errored ?? new Error("The body is closed."))));
      source.on("error", fail);
      // It broke off before anybody listened.
      if (source.destroyed) fail();
    });
  }

  override async text(): Promise<string> {
    return (await this.#bytes()).toString();
  }

  override async json(): Promise<unknown> {
    return readJson(await this.text());
  }

  override async bytes(): Promise<Uint8Array<ArrayBuffer>> {
    return new Uint8Array(await this.#bytes());
  }

  override async arrayBuffer(): Promise<ArrayBuffer> {
    return (await this.bytes()).buffer;
  }

  override async blob(): Promise<Blob> {
    return new Blob([await this.bytes()]);
  }

  override async formData(): Promise<FormData> {
    return new Response(await this.bytes(), { headers: this.headers }).formData();
  }

  override clone(): never {
    throw new TypeError("This response is read once and cannot be cloned.");
  }

  async #bytes(): Promise<Buffer<ArrayBuffer>> {
    const chunks: Uint8Array[] = [];
    await this.readChunks((chunk) => chunks.push(chunk), this.#limits.maxBodyBytes);
    return Buffer.concat(chunks);
  }

  /** Throws if the body was read or is compressed: every request forbids it. */
  #take(): Dispatcher.ResponseData["body"] {
    if (this.#used) throw new TypeError("The body was read already.");
    this.#used = true;
    const encoding = this.headers.get("content-encoding") ?? "identity";
    if (encoding !== "identity" && encoding !== "") {
      this.#source.on("error", () => undefined).destroy();
      throw new EgressError(`The answer is compressed (${encoding.slice(0, 30)}), which was not requested.`);
    }
    return this.#source;
  }
}

function toWebStream(
  chunks: AsyncGenerator<Uint8Array<ArrayBuffer>, undefined>,
): ReadableStream<Uint8Array<ArrayBuffer>> {
  return new ReadableStream(
    {
      async pull(controller) {
        const { done, value } = await chunks.next();
        if (done) controller.close();
        else controller.enqueue(value);
      },
      cancel: async () => void (await chunks.return(undefined)),
    },
    // Nothing is read before somebody asks for it.
    { highWaterMark: 0 },
  );
}

/**
 * Calls `onChunk` for each chunk of any response's body, the cheapest way there is. If it returns false or throws, the
 * connection ends. Throws what `onChunk` throws.
 */
export async function readChunks(response: Response, onChunk: OnChunk): Promise<void> {
  if (response instanceof TrustedResponse) return response.readChunks(onChunk);
  for await (const chunk of response.body ?? []) if ((await onChunk(chunk)) === false) return;
}
