import OpenAI from "openai";
import { tryParseJson } from "@/server/base/json/json";
import { limitTime } from "@/server/base/sleep";
import { type EgressFetch, readChunks } from "@/server/guard/egress/trusted-fetch";
import type { Redact } from "@/server/guard/secrets/redact";
import type { ModelRequest } from "@/server/work/models/port";
import { type Adaptation, isSame, learnFrom, readOutputMaximum, UNKNOWN_SERVER } from "./adaptation";
import { type ReadCompletion, readChatCompletion, readReportedError } from "./chat-completion";
import { toChatCompletion } from "./chat-request";
import { normalizeError } from "./error-bodies";
import { EventStreamReader } from "./event-stream";
import { PiecesError, type StreamedCompletion } from "./streamed-completion";

/** Unsupported features of a server, by model. */
export type KnownLimits = Map<string, Adaptation>;

export type ServerOptions = {
  /** The provider's; shown on runs and in errors. */
  name: string;
  /** Unset for servers that ask for none. */
  apiKey?: string | undefined;
  /** The base URL up to and including `/v1`; default: OpenAI's. */
  baseUrl?: string | undefined;
  fetch: EgressFetch;
  /** Takes secrets out of what the server answers, before texts are cut. */
  redact?: Redact | undefined;
  /** The time limit of one attempt; 300,000 when unset. */
  attemptTimeoutMs?: number;
  /** What earlier calls found out about the same server; this instance adds to it. */
  known?: KnownLimits;
};

/** Sends single requests, and records the features that a server does not support. */
export class OpenAiServer {
  readonly #client: OpenAI;
  readonly #attemptTimeoutMs: number;
  readonly #redact: Redact | undefined;
  readonly #known: KnownLimits;
  /** Provider and address: what the server gives for itself goes back only there. */
  readonly #address: string;

  constructor({
    name,
    apiKey,
    baseUrl,
    fetch,
    redact,
    attemptTimeoutMs = 300_000,
    known = new Map(),
  }: ServerOptions) {
    this.#known = known;
    this.#attemptTimeoutMs = attemptTimeoutMs;
    this.#redact = redact;
    const address = new URL(baseUrl ?? "https://api.openai.com/v1");
    // Azure's ?api-version= belongs behind the path of each call (mindsdb/mindshub#11285).
    const defaultQuery = Object.fromEntries(address.searchParams);
    address.search = "";
    this.#address = `${name} ${address.href}`;
    this.#client = new OpenAI({
      apiKey: apiKey ?? "none",
      adminAPIKey: null,
      organization: null,
      project: null,
      webhookSecret: null,
      baseURL: address.href.replace(/\/$/, ""),
      defaultQuery,
      maxRetries: 0,
      // The SDK's own limit covers only the headers; this one covers the body, too.
      timeout: attemptTimeoutMs + 1000,
      logLevel: "off",
      fetch: async (input, init) =>
        normalizeError(await fetch(input instanceof Request ? input.url : input, init)),
    });
  }

  /**
   * One attempt with its time limit. `streamed` collects the pieces of a streamed reply, so that they are known if it
   * breaks off. Throws the signal's reason, or anything that `readFault` describes.
   */
  async attempt(request: ModelRequest, streamed: StreamedCompletion): Promise<ReadCompletion> {
    const ms = this.#attemptTimeoutMs;
    const { signal, end } = limitTime(request.signal, ms, () => new Error(`no answer within ${ms} ms`));
    try {
      return await this.#send(request, streamed, signal);
    } catch (error) {
      throw signal.aborted ? signal.reason : error;
    } finally {
      end();
    }
  }

  async #send(
    request: ModelRequest,
    streamed: StreamedCompletion,
    signal: AbortSignal,
  ): Promise<ReadCompletion> {
    const { completions } = this.#client.chat;
    const redact = this.#redact;
    const adaptation = this.#adaptationOf(request.model);
    const origin = this.#originOf(request);
    const body = toChatCompletion(request, adaptation, origin);
    if (request.onText === undefined || adaptation.unstreamed) {
      const completion = await completions.create({ ...body, stream: false }, { signal });
      return readChatCompletion(completion, request, { origin, redact });
    }
    const response = await completions
      .create({ ...body, stream: true, stream_options: { include_usage: true } }, { signal })
      .asResponse();
    if (!response.headers.get("content-type")?.startsWith("text/event-stream")) {
      return readChatCompletion(await response.json(), request, { origin, redact });
    }
    await readPieces(response, streamed, signal);
    const { furtherCalls } = streamed;
    const reply = readChatCompletion(streamed.toBody(), request, { furtherCalls, origin, redact });
    // The server reports usage only without streaming, so the next call does not stream.
    if (reply.usage === null) this.#known.set(request.model, { ...adaptation, unstreamed: true });
    return reply;
  }

  /** Records an unsupported feature after a refusal; true if an immediate retry makes sense. */
  adapt(error: unknown, request: ModelRequest): boolean {
    const known = this.#adaptationOf(request.model);
    const next = learnFrom(error, known, { ...request, origin: this.#originOf(request) });
    this.#known.set(request.model, next);
    return !isSame(next, known);
  }

  /** The most output tokens of a model, as far as the server has stated it. */
  maxOutputTokens(model: string): number {
    return this.#adaptationOf(model).maxOutputTokens;
  }

  /** Reads and records the maximum that a refusal of too many output tokens states; null for another error. */
  readMaximum(error: unknown, asked: Pick<ModelRequest, "model" | "maxOutputTokens">): number | null {
    const read = readOutputMaximum(error, asked);
    if (read === null) return null;
    const { maximum, isModels } = read;
    if (isModels)
      this.#known.set(asked.model, { ...this.#adaptationOf(asked.model), maxOutputTokens: maximum });
    return maximum;
  }

  #originOf({ model }: ModelRequest): string {
    return `${this.#address} ${model}`;
  }

  #adaptationOf(model: string): Adaptation {
    return this.#known.get(model) ?? UNKNOWN_SERVER;
  }
}

/** Reads the events of a streamed reply. Throws ReplyError for an error among them, and the signal's reason. */
async function readPieces(
  response: Response,
  streamed: StreamedCompletion,
  signal: AbortSignal,
): Promise<void> {
  const events = new EventStreamReader();
  let isDone = false;
  for await (const chunk of readChunks(response)) {
    for (const data of events.push(chunk)) {
      signal.throwIfAborted();
      isDone ||= data.startsWith("[DONE]");
      // The rest is read, so that the connection can be reused.
      if (isDone) continue;
      const piece = tryParseJson(data);
      if (piece === undefined) throw new PiecesError("a chunk of the answer is not JSON");
      const failed = readReportedError(piece);
      if (failed !== null) throw failed;
      streamed.add(piece);
    }
  }
}
