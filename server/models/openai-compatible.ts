import OpenAI, { APIError } from "openai";
import { Stream } from "openai/streaming";
import type { Clock } from "@/server/clock";
import { EgressError } from "@/server/egress/guarded-fetch";
import type { EgressFetch } from "@/server/functions/define";
import {
  type Adaptation,
  AnswerError,
  readChatCompletion,
  toChatCompletion,
} from "@/server/models/chat-completion";
import {
  type Attempt,
  ModelError,
  type ModelFault,
  type ModelReply,
  type ModelRequest,
} from "@/server/models/port";
import { gatherCompletion, PiecesError } from "@/server/models/streamed-completion";
import { countUsage } from "@/server/models/tokens";
import { redactText } from "@/server/secrets/stored-output";

/** One place that models are called at. */
export type Provider = { name: string; call(request: ModelRequest): Promise<ModelReply> };

export type OpenAiCompatibleOptions = {
  /** Shown on runs and in errors. */
  name: string;
  /** Unset for servers that ask for none. */
  apiKey?: string | undefined;
  /** The address up to and with `/v1`; OpenAI's own when unset. */
  baseUrl?: string | undefined;
  fetch: EgressFetch;
  clock: Clock;
  /** A number from 0 to 1 for the jitter of waits. */
  random: () => number;
  /** Waits; rejects with the signal's reason. */
  sleep: (ms: number, signal: AbortSignal) => Promise<void>;
  /** Tries in all for a passing fault; 5 when unset. */
  maxAttempts?: number;
  /** The limit of one try in milliseconds; 300,000 when unset. */
  attemptTimeoutMs?: number;
};

const FIRST_WAIT_MS = 500;
const MAX_WAIT_MS = 20_000;
/** A provider that asks for more patience than this is not waited for. */
const MAX_RETRY_AFTER_MS = 60_000;
const PASSING = new Set([408, 409, 425, 429]);

/** Why one try failed; `unavailable` passes by itself. `retryAfterMs` is what the provider asked for. */
type Fault = { message: string; reason: ModelFault; retryAfterMs: number | undefined; cause: unknown };

/** What a refusal means, by its status and, where providers use one status for several things, by OpenAI's code. */
function reasonOf(status: number | undefined, code: string | null | undefined): ModelFault {
  if (code === "insufficient_quota" || status === 402) return "quota";
  if (code === "context_length_exceeded" || status === 413) return "input_too_long";
  if (code === "model_not_found" || status === 404) return "unknown";
  if (code === "invalid_api_key" || status === 401 || status === 403) return "unauthorized";
  return status === undefined || PASSING.has(status) || status >= 500 ? "unavailable" : "refused";
}

/** How long a provider asks to be left alone, in milliseconds (RFC 9110, section 10.2.3, and `retry-after-ms`). */
function retryAfterMs(headers: Headers | undefined, now: Date): number | undefined {
  const exact = Number(headers?.get("retry-after-ms") ?? Number.NaN);
  if (Number.isFinite(exact) && exact >= 0) return exact;
  const text = headers?.get("retry-after");
  if (text === null || text === undefined || text.trim() === "") return undefined;
  const seconds = Number(text);
  if (Number.isFinite(seconds)) return Math.max(0, seconds * 1000);
  const date = Date.parse(text);
  return Number.isNaN(date) ? undefined : Math.max(0, date - now.getTime());
}

/** Keys that providers echo, whole or masked. */
const KEY_LIKE = /\b(sk|pk|rk|key|gsk|xai)-[\w*.-]{6,}|Bearer\s+\S+/gi;

/** An OpenAI-compatible endpoint, by chat completions. */
export function createOpenAiCompatible(options: OpenAiCompatibleOptions): Provider {
  const { name, fetch, clock, random, sleep, maxAttempts = 5, attemptTimeoutMs = 300_000 } = options;
  const client = new OpenAI({
    apiKey: options.apiKey ?? "none",
    adminAPIKey: null,
    organization: null,
    project: null,
    webhookSecret: null,
    baseURL: options.baseUrl ?? "https://api.openai.com/v1",
    maxRetries: 0,
    // Its own limit ends with the headers; the one here covers the body too.
    timeout: attemptTimeoutMs + 1000,
    logLevel: "off",
    fetch: (input, init) => fetch(input instanceof Request ? input.url : input, init),
  });
  /** What each model's server was found not to do. */
  const adaptations = new Map<string, Adaptation>();
  const adaptationOf = (model: string): Adaptation =>
    adaptations.get(model) ?? { oldTokenLimit: false, schemaInWords: false, wholeAnswers: false };

  const clean = (message: string) =>
    redactText(message, options.apiKey === undefined ? [] : [options.apiKey])
      .replace(KEY_LIKE, "[redacted]")
      .slice(0, 500);

  async function tryOnce(request: ModelRequest) {
    const timeout = new AbortController();
    const timer = setTimeout(
      () => timeout.abort(new Error(`no answer within ${attemptTimeoutMs} ms`)),
      attemptTimeoutMs,
    );
    const signal = AbortSignal.any([request.signal, timeout.signal]);
    try {
      const adaptation = adaptationOf(request.model);
      const body = toChatCompletion(request, adaptation);
      if (request.onText === undefined || adaptation.wholeAnswers) {
        const whole: unknown = await client.chat.completions.create({ ...body, stream: false }, { signal });
        return readChatCompletion(whole, request);
      }
      const answer = await client.chat.completions
        .create({ ...body, stream: true, stream_options: { include_usage: true } }, { signal })
        .asResponse();
      const isInPieces = answer.headers.get("content-type")?.startsWith("text/event-stream");
      const gathered: unknown = isInPieces
        ? await gatherCompletion(readPieces(answer, signal), request.onText)
        : await answer.json();
      const reply = readChatCompletion(gathered, request);
      // What is paid for is told rather than counted, from the next call on.
      if (isInPieces && reply.usage === null) {
        adaptations.set(request.model, { ...adaptation, wholeAnswers: true });
      }
      return reply;
    } catch (error) {
      request.signal.throwIfAborted();
      throw timeout.signal.aborted ? timeout.signal.reason : error;
    } finally {
      clearTimeout(timer);
    }
  }

  /** The pieces of an answer as they come. Throws AnswerError for an error among them, and the signal's reason. */
  async function* readPieces(answer: Response, signal: AbortSignal): AsyncGenerator<unknown> {
    const reading = new AbortController();
    const stop = () => reading.abort();
    signal.addEventListener("abort", stop, { once: true });
    try {
      yield* Stream.fromSSEResponse<unknown>(answer, reading, client);
    } catch (error) {
      if (!(error instanceof APIError)) throw error;
      throw new AnswerError(error.message, error.code ?? null);
    } finally {
      signal.removeEventListener("abort", stop);
    }
    // An aborted stream just ends.
    signal.throwIfAborted();
  }

  function toFault(error: unknown): Fault {
    if (error instanceof APIError && error.status !== undefined) {
      // The message begins with the status.
      const message = clean(`the model provider "${name}" answered ${error.message}`);
      const reason = reasonOf(error.status, error.code);
      return { message, reason, retryAfterMs: retryAfterMs(error.headers, clock.now()), cause: error };
    }
    if (error instanceof AnswerError) {
      const message = clean(`the model provider "${name}" answered: ${error.message}`);
      const reason = reasonOf(error.status, error.code);
      return { message, reason, retryAfterMs: undefined, cause: error };
    }
    let inner = error;
    for (let i = 0; i < 5 && inner instanceof Error && inner.cause instanceof Error; i += 1) {
      if (inner instanceof EgressError || inner.cause.message === "") break;
      inner = inner.cause;
    }
    const told = inner instanceof Error ? inner.message : "an unknown fault";
    const message = clean(`the model provider "${name}" could not be reached: ${told}`);
    return { message, reason: "unavailable", retryAfterMs: undefined, cause: error };
  }

  /** Learns from a refusal what the server does not know; true when another try makes sense at once. */
  function adapt(error: unknown, model: string): boolean {
    const known = adaptationOf(model);
    if (error instanceof PiecesError) {
      adaptations.set(model, { ...known, wholeAnswers: true });
      return !known.wholeAnswers;
    }
    if (!(error instanceof APIError) || (error.status !== 400 && error.status !== 422)) return false;
    const text = `${error.message} ${error.param ?? ""}`;
    const next: Adaptation = {
      oldTokenLimit: known.oldTokenLimit || text.includes("max_completion_tokens"),
      schemaInWords: known.schemaInWords || /response_format|json_schema/.test(text),
      wholeAnswers: known.wholeAnswers || /\bstream/.test(text),
    };
    const learned = (["oldTokenLimit", "schemaInWords", "wholeAnswers"] as const).some(
      (each) => next[each] !== known[each],
    );
    if (!learned) return false;
    adaptations.set(model, next);
    return true;
  }

  return {
    name,
    async call(request) {
      const attempts: Attempt[] = [];
      let failures = 0;
      for (;;) {
        request.signal.throwIfAborted();
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
        try {
          const reply = await tryOnce(request);
          record(null);
          const usage = reply.usage ?? (await countUsage(request, reply));
          return { ...reply, usage, provider: name, attempts };
        } catch (error) {
          request.signal.throwIfAborted();
          const fault = toFault(error);
          if (adapt(error, request.model)) {
            record(fault.message, 0);
            continue;
          }
          failures += 1;
          const patience = fault.retryAfterMs ?? 0;
          if (fault.reason !== "unavailable" || failures >= maxAttempts || patience > MAX_RETRY_AFTER_MS) {
            record(fault.message);
            const message = fault.message.charAt(0).toUpperCase() + fault.message.slice(1);
            throw new ModelError(message, { reason: fault.reason, attempts, cause: fault.cause });
          }
          const backoff = Math.min(MAX_WAIT_MS, FIRST_WAIT_MS * 2 ** (failures - 1)) * (0.5 + random() / 2);
          const waitMs = Math.max(patience, backoff);
          record(fault.message, waitMs);
          await request.onRetry?.(attempts);
          await sleep(waitMs, request.signal);
        }
      }
    },
  };
}
