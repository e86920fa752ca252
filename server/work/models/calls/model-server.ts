import { LRUCache } from "lru-cache";
import { unmarkExact } from "@/server/base/json/exact-number";
import { tryParseJson } from "@/server/base/json/json";
import type { ModelLimits } from "@/server/base/models/model-providers";
import { WorkSlice } from "@/server/base/scheduling/event-loop";
import { limitTime } from "@/server/base/sleep";
import { type EgressFetch, readChunks } from "@/server/guard/egress/trusted-fetch";
import type { Redact } from "@/server/guard/secrets/redact";
import { findModelFacts } from "@/server/work/models/catalog/find-model-facts";
import type { ModelFacts } from "@/server/work/models/catalog/model-facts";
import type { ListedModel, ModelRequest } from "@/server/work/models/port";
import {
  type Adaptation,
  isSame,
  isStreamed,
  learnFrom,
  readOutputMaximum,
  UNKNOWN_SERVER,
} from "../errors/adaptation";
import { describeChanges } from "../errors/describe-changes";
import { normalizeError } from "../errors/error-bodies";
import { withoutLostStates, withSentStates } from "../errors/lost-states";
import {
  AnswerTimeout,
  brokenPieces,
  type ReadReply,
  ReplyError,
  readReportedError,
} from "../errors/replies";
import { EventStreamReader } from "./event-stream";
import type { Connection, ModelInterface, StreamedReply } from "./model-interface";
import { readModelList } from "./model-list";

/**
 * Findings about a server's models, by organization and model. They stay with the organization: an error may repeat
 * texts of the request, so another one's requests must not depend on it.
 */
export type KnownLimits = {
  get(key: string): Adaptation | undefined;
  set(key: string, adaptation: Adaptation): unknown;
};
type Asked = Pick<ModelRequest, "organizationId" | "model">;
type Listening = {
  signal: AbortSignal;
  onStarted: ((headers: Headers) => void) | undefined;
  onReceived: () => void;
};

export type ServerOptions = {
  name: string;
  apiKey?: string | undefined;
  /** As the interface's package expects it; by default that of the interface's vendor. */
  baseUrl?: string | undefined;
  fetch: EgressFetch;
  /** Redacts answers before texts are cut. */
  redact?: Redact | undefined;
  /** The longest silence within an attempt; `SILENCE_MS` by default. */
  silenceMs?: number;
  /** Covers a whole attempt; `ATTEMPT_MS` by default. */
  attemptTimeoutMs?: number;
  /** The operator's limits win over the catalog. */
  limits?: ReadonlyMap<string, ModelLimits> | undefined;
  known?: KnownLimits;
};

/** A stream is silent while the model thinks unseen; an answer in one piece, until it is complete. */
const SILENCE_MS = { streamed: 300_000, whole: 600_000 };
export const LONGEST_SILENCE_MS = SILENCE_MS.whole;
/** Half an hour: 32,000 tokens at 18 a second. */
export const ATTEMPT_MS = 1_800_000;
const MAX_KNOWN = 10_000;
const LIST_TIMEOUT_MS = 10_000;
const JSON_TYPE = /^[^;]*json/i;
const EVENTS_TYPE = /^text\/event-stream/i;

/** Sends single requests, and records the features that a server does not support. */
export class ModelServer {
  readonly #interface: ModelInterface;
  readonly #connection: Connection;
  readonly baseUrl: string;
  readonly #limits: ReadonlyMap<string, ModelLimits> | undefined;
  readonly #silenceMs: number | undefined;
  readonly #attemptTimeoutMs: number;
  readonly #redact: Redact | undefined;
  readonly #known: KnownLimits;
  readonly #windows = new LRUCache<string, number>({ max: 1_000 });
  /** Provider, interface and address: a server's own data goes back only there. */
  readonly address: string;

  constructor(
    modelInterface: ModelInterface,
    { baseUrl = modelInterface.baseUrl, limits, ...options }: ServerOptions,
  ) {
    const { name, apiKey, fetch, redact, silenceMs, attemptTimeoutMs = ATTEMPT_MS } = options;
    const { known = new LRUCache<string, Adaptation>({ max: MAX_KNOWN }) } = options;
    this.#interface = modelInterface;
    this.baseUrl = baseUrl;
    this.#limits = limits;
    this.#known = known;
    this.#silenceMs = silenceMs;
    this.#attemptTimeoutMs = attemptTimeoutMs;
    this.#redact = redact;
    const address = new URL(baseUrl);
    // Azure's ?api-version= belongs behind the path of each call (mindsdb/mindshub#11285).
    const query = Object.fromEntries(address.searchParams);
    address.search = "";
    this.address = `${name} ${modelInterface.name} ${address.href}`;
    const headers = modelInterface.headersOf(apiKey);
    this.#connection = modelInterface.connect({
      apiKey,
      address: address.href.replace(/\/$/, ""),
      query,
      // The client's own limit covers only the headers; ours covers the body, too.
      timeoutMs: attemptTimeoutMs + 1000,
      fetch: async (input, init) => {
        // Clients call JSON.stringify: numbers that a double cannot hold are marked until here.
        const body = typeof init?.body === "string" ? unmarkExact(init.body) : null;
        return normalizeError(await fetch(input, { ...init, body, headers }));
      },
    });
  }

  collect(request: ModelRequest): StreamedReply {
    return this.#interface.collect((text) => request.onText?.(() => text), request);
  }

  /**
   * `onStarted` gets the headers of a successful response. Throws the signal's reason, or anything that `readProviderError`
   * describes.
   */
  async attempt(
    request: ModelRequest,
    streamed: StreamedReply,
    onStarted?: (headers: Headers) => void,
  ): Promise<ReadReply> {
    const totalMs = this.#attemptTimeoutMs;
    const known = this.#adaptationOf(request);
    const streams = isStreamed(request, known);
    const silenceMs = this.#silenceMs ?? SILENCE_MS[streams ? "streamed" : "whole"];
    const total = limitTime(request.signal, totalMs, () => new AnswerTimeout(totalMs, "attempt"));
    const silence = limitTime(total.signal, silenceMs, () => new AnswerTimeout(silenceMs, "silence"));
    const { signal } = silence;
    try {
      return await this.#send(request, streamed, { signal, onStarted, onReceived: silence.restart });
    } catch (error) {
      // A lost connection looks the same, and breaks all streams of its time: only two after each other count.
      if (isBroken(error) && streams)
        this.#learn(request, {
          ...this.#adaptationOf(request),
          ...(known.streamBroke ? { unstreamed: true } : { streamBroke: true }),
        });
      throw signal.aborted ? signal.reason : this.#connection.explain(error);
    } finally {
      silence.end();
      total.end();
    }
  }

  async listModels(): Promise<ListedModel[]> {
    const reason = () => new Error(`no answer within ${LIST_TIMEOUT_MS} ms`);
    const { signal, end } = limitTime(new AbortController().signal, LIST_TIMEOUT_MS, reason);
    try {
      const response = await this.#connection.list(signal);
      return readModelList(await response.json());
    } catch (error) {
      throw signal.aborted ? signal.reason : this.#connection.explain(error);
    } finally {
      end();
    }
  }

  async #send(
    request: ModelRequest,
    streamed: StreamedReply,
    { signal, onStarted, onReceived }: Listening,
  ): Promise<ReadReply> {
    const known = this.#adaptationOf(request);
    const origin = this.#originOf(request);
    const read = (body: unknown, furtherCalls = 0) =>
      this.#interface.read(body, request, { furtherCalls, origin, redact: this.#redact });
    const streams = isStreamed(request, known);
    const sent = withoutLostStates(request, known.lostStates);
    const response = await this.#connection.send({
      request: sent,
      known,
      origin,
      isStreamed: streams,
      signal,
    });
    onReceived();
    onStarted?.(response.headers);
    const type = response.headers.get("content-type") ?? "";
    const isEvents = EVENTS_TYPE.test(type);
    const text = streams && isEvents ? null : await response.text();
    const whole = text === null ? undefined : readWhole(text, { type, isStreamed: streams });
    // Some servers stream whatever was requested (kaito-project/kaito#1880).
    const inPieces = whole === undefined && isEvents;
    const pieces = text === null ? response : new Response(text);
    if (inPieces) await this.#readPieces(pieces, streamed, { signal, onReceived });
    const reply = inPieces ? read(streamed.toBody(), streamed.furtherCalls) : read(whole ?? text);
    this.#learnFromReply(request, reply, inPieces);
    return reply;
  }

  #learnFromReply(request: ModelRequest, { usage }: ReadReply, inPieces: boolean): void {
    const known = this.#adaptationOf(request);
    // The server reports usage only without streaming, so the next call does not stream.
    const unstreamed = known.unstreamed || (usage === null && inPieces);
    // Ollama, llama-cpp-python (abetlen/llama-cpp-python#1907) and others ignore max_completion_tokens.
    const isOver = usage !== null && usage.outputTokens > this.sentLimit(request);
    const streamBroke = known.streamBroke && !inPieces;
    const next = { ...known, unstreamed, oldTokenLimit: known.oldTokenLimit || isOver, streamBroke };
    if (!isSame(next, known)) this.#learn(request, next);
  }

  /** Throws ReplyError for an error in the stream, and the signal's reason. */
  async #readPieces(
    response: Response,
    streamed: StreamedReply,
    { signal, onReceived }: Pick<Listening, "signal" | "onReceived">,
  ): Promise<void> {
    const events = new EventStreamReader(this.#interface.maxEventLength);
    let isDone = false;
    await readChunks(response, async (chunk) => {
      onReceived();
      // One chunk may have thousands of events.
      const slice = new WorkSlice();
      for (const data of events.push(chunk)) {
        if (slice.isOver) await slice.next();
        signal.throwIfAborted();
        // Some servers keep a connection open with empty events, or with `null`.
        if (data.trim() === "") continue;
        isDone ||= data.startsWith("[DONE]");
        // The rest is read, so that the connection can be reused.
        if (isDone) continue;
        const piece = tryParseJson(data);
        if (piece === undefined) throw brokenPieces("a chunk of the answer is not JSON");
        if (typeof piece !== "object" || piece === null) continue;
        const failed = readReportedError(piece);
        if (failed !== null) throw failed;
        streamed.add(piece);
      }
    });
  }

  /** The request in one piece, to repeat it after a stream that broke off; null for another error. */
  inOnePiece(error: unknown, { onText, ...request }: ModelRequest): ModelRequest | null {
    if (!isBroken(error) || onText === undefined) return null;
    return isStreamed({}, this.#adaptationOf(request)) ? null : request;
  }

  /** Returns true if an immediate retry makes sense. */
  adapt(error: unknown, request: ModelRequest): boolean {
    const known = this.#adaptationOf(request);
    const origin = this.#originOf(request);
    const next = learnFrom(error, known, {
      request,
      parameters: this.#interface.parametersOf(request),
      fields: this.#interface.namesOfState(request.messages, origin),
      origin,
    });
    if (isSame(next, known)) return false;
    this.#learn(request, next);
    return true;
  }

  describeChanges(request: ModelRequest): string[] {
    const origin = this.#originOf(request);
    return describeChanges(this.#adaptationOf(request), {
      request,
      parameters: () => this.#interface.parametersOf(request),
      fields: () => this.#interface.namesOfState(request.messages, origin),
      origin,
    });
  }

  async factsOf(model: string): Promise<ModelFacts> {
    return { ...(await findModelFacts({ baseUrl: this.baseUrl, model })), ...this.#limits?.get(model) };
  }

  /** Infinite if unknown. */
  async maxOutputTokens(asked: Asked): Promise<number> {
    const { maxOutputTokens = Number.POSITIVE_INFINITY } = await this.factsOf(asked.model);
    return Math.min(maxOutputTokens, this.#adaptationOf(asked).maxOutputTokens);
  }

  /** `ratio`: the model's tokens for one of ours. */
  async contextOf(asked: Asked): Promise<{ window: number; ratio: number }> {
    const { model } = asked;
    if (!this.#windows.has(model)) {
      const { contextWindow = Number.POSITIVE_INFINITY } = await this.factsOf(model);
      this.#windows.set(model, contextWindow);
    }
    const { contextWindow, tokenRatio } = this.#adaptationOf(asked);
    return { window: Math.min(this.#windows.get(model) ?? contextWindow, contextWindow), ratio: tokenRatio };
  }

  /** In our tokens. Zero before `contextOf` was called. */
  surelyFits(asked: Asked): number {
    const stated = this.#windows.get(asked.model) ?? 0;
    const { contextWindow, tokenRatio } = this.#adaptationOf(asked);
    return Math.min(stated, contextWindow) / Math.max(1, tokenRatio);
  }

  learnContext(asked: Asked, { window, ratio }: { window: number; ratio: number }): void {
    this.#learn(asked, { ...this.#adaptationOf(asked), contextWindow: window, tokenRatio: ratio });
  }

  /** The request without states and withheld tools that are not sent. */
  asSent(request: ModelRequest): ModelRequest {
    const { lostStates: lost, toolsAlways } = this.#adaptationOf(request);
    const messages = withSentStates(request.messages, { lost, origin: this.#originOf(request) });
    if (toolsAlways || this.#interface.needsTools(messages)) return { ...request, messages };
    return { ...request, messages, withheldTools: undefined };
  }

  sentLimit(request: ModelRequest): number {
    return Math.min(request.maxOutputTokens, this.#adaptationOf(request).maxOutputTokens);
  }

  readMaximum(error: unknown, asked: Asked & Pick<ModelRequest, "maxOutputTokens">): number | null {
    const read = readOutputMaximum(error, asked);
    if (read === null) return null;
    const { maximum, isModels } = read;
    if (isModels) this.#learn(asked, { ...this.#adaptationOf(asked), maxOutputTokens: maximum });
    return maximum;
  }

  #originOf({ model }: ModelRequest): string {
    return `${this.address} ${model}`;
  }

  #adaptationOf(asked: Asked): Adaptation {
    return this.#known.get(keyOf(asked)) ?? UNKNOWN_SERVER;
  }

  #learn(asked: Asked, adaptation: Adaptation): void {
    this.#known.set(keyOf(asked), adaptation);
  }
}

// JSON, or undefined for events and the text of an error. Throws ReplyError for events of another type.
function readWhole(text: string, { type, isStreamed }: { type: string; isStreamed: boolean }): unknown {
  if (!isStreamed && EVENTS_TYPE.test(type)) return tryParseJson(withoutStreamEnd(text));
  const body = isStreamed || JSON_TYPE.test(type) ? tryParseJson(text) : undefined;
  if (isStreamed && body === undefined)
    throw brokenPieces("the answer is neither JSON nor a stream of events");
  return body;
}

// Behind JSON in one piece (decolua/9router#3492).
function withoutStreamEnd(text: string): string {
  const at = text.lastIndexOf("data:");
  const isEnd = at >= 0 && text.slice(at + "data:".length).trim() === "[DONE]";
  return isEnd ? text.slice(0, at).trimEnd() : text;
}

const isBroken = (error: unknown) => error instanceof ReplyError && error.kind === "broken_pieces";

const keyOf = ({ organizationId = "", model }: Asked) => `${organizationId} ${model}`;
