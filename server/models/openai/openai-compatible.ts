import { isDeepStrictEqual } from "node:util";
import OpenAI, { APIError } from "openai";
import type { Clock } from "@/server/clock";
import { readChunks } from "@/server/egress/trusted-fetch";
import type { EgressFetch } from "@/server/functions/define";
import { tryParseJson } from "@/server/json/json";
import { readFault } from "@/server/models/faults";
import {
  type Attempt,
  ModelCallStopped,
  ModelError,
  type ModelReply,
  type ModelRequest,
  type ModelUsage,
  type ReceivedOutput,
} from "@/server/models/port";
import { countUsage } from "@/server/models/tokens/tokens";
import type { Redact } from "@/server/secrets/redact";
import {
  type Adaptation,
  type ReadCompletion,
  readChatCompletion,
  readReportedError,
  toChatCompletion,
} from "./chat-completion";
import { EventStreamReader } from "./event-stream";
import { PiecesError, StreamedCompletion } from "./streamed-completion";

export type Provider = { name: string; call(request: ModelRequest): Promise<ModelReply> };

export type OpenAiCompatibleOptions = {
  /** Shown on runs and in errors. */
  name: string;
  /** Unset for servers that ask for none. */
  apiKey?: string | undefined;
  /** The base URL up to and including `/v1`; default: OpenAI's. */
  baseUrl?: string | undefined;
  fetch: EgressFetch;
  /** Takes secrets out of what the server answers, before texts are cut. */
  redact?: Redact | undefined;
  clock: Clock;
  /** A number from 0 to 1 for the jitter of delays. */
  random: () => number;
  /** Waits; rejects with the signal's reason. */
  sleep: (ms: number, signal: AbortSignal) => Promise<void>;
  maxAttempts?: number;
  attemptTimeoutMs?: number;
};

const FIRST_WAIT_MS = 500;
const MAX_WAIT_MS = 20_000;
/** If a provider requests a longer delay, the call fails. */
const MAX_RETRY_AFTER_MS = 60_000;

/** What is known about a server before its first response. */
const UNKNOWN_SERVER: Adaptation = { oldTokenLimit: false, schemaInPrompt: false, unstreamed: false };

export function createOpenAiCompatible(options: OpenAiCompatibleOptions): Provider {
  const { name, fetch, redact, clock, random, sleep, maxAttempts = 5, attemptTimeoutMs = 300_000 } = options;
  const client = new OpenAI({
    apiKey: options.apiKey ?? "none",
    adminAPIKey: null,
    organization: null,
    project: null,
    webhookSecret: null,
    baseURL: options.baseUrl ?? "https://api.openai.com/v1",
    maxRetries: 0,
    // The SDK's own limit covers only the headers; this one covers the body, too.
    timeout: attemptTimeoutMs + 1000,
    logLevel: "off",
    fetch: (input, init) => fetch(input instanceof Request ? input.url : input, init),
  });
  /** The features that each model's server does not support. */
  const adaptations = new Map<string, Adaptation>();
  const adaptationOf = (model: string): Adaptation => adaptations.get(model) ?? UNKNOWN_SERVER;

  /** @param streamed collects the pieces of a streamed reply, so that they are known if it breaks off. */
  async function attempt(request: ModelRequest, streamed: StreamedCompletion): Promise<ReadCompletion> {
    // Not AbortSignal.any: a long-lived signal would keep a reference to each of its dependents.
    const controller = new AbortController();
    const { signal } = controller;
    const stop = () => controller.abort(request.signal.reason);
    request.signal.addEventListener("abort", stop, { once: true });
    const timer = setTimeout(
      () => controller.abort(new Error(`no answer within ${attemptTimeoutMs} ms`)),
      attemptTimeoutMs,
    );
    try {
      const adaptation = adaptationOf(request.model);
      const body = toChatCompletion(request, adaptation);
      if (request.onText === undefined || adaptation.unstreamed) {
        const completion = await client.chat.completions.create({ ...body, stream: false }, { signal });
        return readChatCompletion(completion, request, { redact });
      }
      const response = await client.chat.completions
        .create({ ...body, stream: true, stream_options: { include_usage: true } }, { signal })
        .asResponse();
      if (!response.headers.get("content-type")?.startsWith("text/event-stream")) {
        return readChatCompletion(await response.json(), request, { redact });
      }
      await readPieces(response, streamed, signal);
      const { furtherCalls } = streamed;
      const reply = readChatCompletion(streamed.toBody(), request, { furtherCalls, redact });
      // The server reports usage only without streaming, so the next call does not stream.
      if (reply.usage === null) adaptations.set(request.model, { ...adaptation, unstreamed: true });
      return reply;
    } catch (error) {
      throw signal.aborted ? signal.reason : error;
    } finally {
      clearTimeout(timer);
      request.signal.removeEventListener("abort", stop);
    }
  }

  /** Learns an unsupported feature from a refusal; true if an immediate retry makes sense. */
  function adapt(error: unknown, model: string): boolean {
    const known = adaptationOf(model);
    if (error instanceof PiecesError) {
      adaptations.set(model, { ...known, unstreamed: true });
      return !known.unstreamed;
    }
    if (!(error instanceof APIError) || (error.status !== 400 && error.status !== 422)) return false;
    const text = `${error.message} ${error.param ?? ""}`;
    const next: Adaptation = {
      oldTokenLimit: known.oldTokenLimit || text.includes("max_completion_tokens"),
      schemaInPrompt: known.schemaInPrompt || /response_format|json_schema/.test(text),
      unstreamed: known.unstreamed || /\bstream/.test(text),
    };
    adaptations.set(model, next);
    return !isDeepStrictEqual(next, known);
  }

  return {
    name,
    async call(request) {
      const attempts: Attempt[] = [];
      /** What interrupted attempts had received. */
      let received: ReceivedOutput | null = null;
      let failures = 0;
      const stopIfAborted = () => {
        if (!request.signal.aborted) return;
        const { reason: cause } = request.signal;
        throw received === null ? cause : new ModelCallStopped({ attempts, received, cause });
      };
      for (;;) {
        stopIfAborted();
        const started = clock.now();
        const record = (error: string | null, waitMs?: number) => {
          const now = clock.now().getTime();
          attempts.push({
            startedAt: started.toISOString(),
            durationMs: Math.max(0, now - started.getTime()),
            error,
            ...(waitMs === undefined ? {} : { retryAt: new Date(now + waitMs).toISOString() }),
          });
        };
        const streamed = new StreamedCompletion(request.onText ?? (() => undefined));
        try {
          const { reasoning, ...reply } = await attempt(request, streamed);
          record(null);
          const usageOfReply = reply.usage ?? (await countUsage(request, { ...reply, reasoning }));
          return { ...reply, usage: addUsage(received, usageOfReply), provider: name, attempts };
        } catch (error) {
          const output = await streamed.received(request);
          if (output !== null) received = { ...output, usage: addUsage(received, output.usage) };
          const fault = readFault(error, { name, apiKey: options.apiKey, redact }, clock.now());
          if (request.signal.aborted) record("stopped");
          stopIfAborted();
          if (adapt(error, request.model)) {
            record(fault.message, 0);
            continue;
          }
          failures += 1;
          const patience = fault.retryAfterMs ?? 0;
          if (fault.reason !== "unavailable" || failures >= maxAttempts || patience > MAX_RETRY_AFTER_MS) {
            record(fault.message);
            const message = fault.message.charAt(0).toUpperCase() + fault.message.slice(1);
            throw new ModelError(message, { reason: fault.reason, attempts, received, cause: fault.cause });
          }
          const backoff = Math.min(MAX_WAIT_MS, FIRST_WAIT_MS * 2 ** (failures - 1)) * (0.5 + random() / 2);
          const waitMs = Math.max(patience, backoff);
          record(fault.message, waitMs);
          await request.onRetry?.(attempts);
          await sleep(waitMs, request.signal).catch((reason: unknown) => {
            stopIfAborted();
            throw reason;
          });
        }
      }
    },
  };
}

/** The usage of a call, with that of its interrupted attempts. */
function addUsage(received: ReceivedOutput | null, own: ModelUsage): ModelUsage {
  if (received === null) return own;
  const { inputTokens, outputTokens, estimated } = received.usage;
  return {
    inputTokens: inputTokens + own.inputTokens,
    outputTokens: outputTokens + own.outputTokens,
    estimated: estimated || own.estimated,
  };
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
