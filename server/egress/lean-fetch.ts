import { Agent, type Dispatcher } from "undici";
import { EgressError, explainFailure, ResponseTooLarge } from "@/server/egress/failures";
import type { EgressFetch } from "@/server/functions/define";

export type LeanFetchOptions = {
  /** Largest body that is read as one text or document, in bytes; 16 MiB when unset. */
  maxBodyBytes?: number;
  /** Largest body that is read chunk by chunk, in bytes; 64 MiB when unset. */
  maxStreamBytes?: number;
  /**
   * How long a server may send nothing before the headers and between two chunks, in milliseconds; 600,000 when unset.
   */
  silenceMs?: number;
};

const MIB = 1024 * 1024;
/** Calls of models take seconds; more at once than this wait for a connection. */
const CONNECTIONS_PER_ORIGIN = 256;

type Limits = { maxBodyBytes: number; maxStreamBytes: number };

/**
 * A `fetch` that uses undici's request API, for calls that need neither redirects nor decompression. It avoids the
 * Fetch standard's streams and filters, which cost several times the call itself. Connections are kept alive and shared
 * by origin. Rejects with EgressError, or with the reason of the caller's signal.
 */
export function createLeanFetch(options: LeanFetchOptions): { fetch: EgressFetch; close(): Promise<void> } {
  const { maxBodyBytes = 16 * MIB, maxStreamBytes = 64 * MIB, silenceMs = 600_000 } = options;
  const limits = { maxBodyBytes, maxStreamBytes };
  const agent = new Agent({
    connect: { timeout: 10_000 },
    connections: CONNECTIONS_PER_ORIGIN,
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
        headers: headerPairs(init.headers),
        body,
        signal,
      });
      return new LeanResponse(url.href, response, { ...limits, explain });
    } catch (error) {
      throw explain(error);
    }
  };
  return { fetch, close: () => agent.destroy() };
}

function headerPairs(headers: HeadersInit | undefined): Iterable<[string, string]> {
  if (headers === undefined) return [];
  return headers instanceof Headers ? headers : new Headers(headers);
}

/**
 * A response that is read once: as a text, as a document, or by `chunks`. It fails with EgressError when its body grows
 * beyond the limit or breaks off.
 */
export class LeanResponse implements Response {
  readonly headers = new Headers();
  readonly ok: boolean;
  readonly redirected = false;
  readonly status: number;
  readonly statusText: string;
  readonly type = "default";
  readonly url: string;
  readonly #source: Dispatcher.ResponseData["body"];
  readonly #limits: Limits & { explain: (error: unknown) => Error };
  #used = false;
  #stream: ReadableStream<Uint8Array<ArrayBuffer>> | undefined;

  constructor(
    url: string,
    response: Dispatcher.ResponseData,
    limits: Limits & { explain: (error: unknown) => Error },
  ) {
    this.url = url;
    this.status = response.statusCode;
    this.statusText = response.statusText;
    this.ok = this.status >= 200 && this.status < 300;
    for (const [name, value] of Object.entries(response.headers)) {
      if (value === undefined) continue;
      for (const each of Array.isArray(value) ? value : [value]) this.headers.append(name, each);
    }
    this.#source = response.body;
    this.#limits = limits;
  }

  get bodyUsed(): boolean {
    return this.#used;
  }

  /** The body as a web stream; `chunks` is cheaper. */
  get body(): ReadableStream<Uint8Array<ArrayBuffer>> {
    this.#stream ??= toWebStream(this.chunks());
    return this.#stream;
  }

  /** The body as it arrives. Leaving the loop early ends the connection. */
  async *chunks(): AsyncGenerator<Uint8Array<ArrayBuffer>, undefined> {
    const source = this.#take();
    const { maxStreamBytes, explain } = this.#limits;
    let total = 0;
    try {
      for await (const chunk of source) {
        total += chunk.byteLength;
        if (total > maxStreamBytes) throw new ResponseTooLarge(maxStreamBytes);
        yield chunk;
      }
    } catch (error) {
      throw explain(error);
    }
  }

  async text(): Promise<string> {
    return (await this.#bytes()).toString();
  }

  async json(): Promise<unknown> {
    return JSON.parse(await this.text());
  }

  async bytes(): Promise<Uint8Array<ArrayBuffer>> {
    return new Uint8Array(await this.#bytes());
  }

  async arrayBuffer(): Promise<ArrayBuffer> {
    return (await this.bytes()).buffer;
  }

  async blob(): Promise<Blob> {
    return new Blob([await this.bytes()]);
  }

  async formData(): Promise<FormData> {
    return new Response(await this.bytes(), { headers: this.headers }).formData();
  }

  clone(): never {
    throw new TypeError("This response is read once and cannot be cloned.");
  }

  #bytes(): Promise<Buffer> {
    const source = this.#take();
    const { maxBodyBytes, explain } = this.#limits;
    return new Promise((resolve, reject) => {
      const chunks: Buffer[] = [];
      let total = 0;
      source.on("data", (chunk: Buffer) => {
        chunks.push(chunk);
        total += chunk.byteLength;
        if (total > maxBodyBytes) source.destroy(new ResponseTooLarge(maxBodyBytes));
      });
      source.on("end", () => resolve(chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks)));
      source.on("error", (error) => reject(explain(error)));
    });
  }

  /** The body, once. Throws if it is compressed: no request accepts an encoding. */
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

/** The chunks of any response's body, the cheapest way there is. */
export async function* readChunks(response: Response): AsyncGenerator<Uint8Array> {
  if (response instanceof LeanResponse) {
    yield* response.chunks();
    return;
  }
  const reader = response.body?.getReader();
  try {
    for (let next = await reader?.read(); next && !next.done; next = await reader?.read()) yield next.value;
  } finally {
    await reader?.cancel();
  }
}
