import type { Clock } from "@/server/base/clock";
import {
  type Attempt,
  ModelCallStopped,
  ModelError,
  type ModelReply,
  type ModelRequest,
  type ModelUsage,
  type ReceivedOutput,
} from "@/server/work/models/port";
import { countUsage } from "@/server/work/models/tokens/tokens";
import { type Fault, readFault } from "./faults";
import { OpenAiServer, type ServerOptions } from "./openai-server";
import { StreamedCompletion } from "./streamed-completion";

export type Provider = { name: string; call(request: ModelRequest): Promise<ModelReply> };

export type OpenAiCompatibleOptions = ServerOptions & {
  /** Shown on runs and in errors. */
  name: string;
  clock: Clock;
  /** A number from 0 to 1 for the jitter of delays. */
  random: () => number;
  /** Waits; rejects with the signal's reason. */
  sleep: (ms: number, signal: AbortSignal) => Promise<void>;
  /** How often a call is attempted; 5 when unset. */
  maxAttempts?: number;
};

const FIRST_WAIT_MS = 500;
const MAX_WAIT_MS = 20_000;
/** If a provider requests a longer delay, the call fails. */
const MAX_RETRY_AFTER_MS = 60_000;

/** A provider with OpenAI's chat completions API. */
export function createOpenAiCompatible(options: OpenAiCompatibleOptions): Provider {
  const server = new OpenAiServer(options);
  return { name: options.name, call: (request) => new ModelCall(server, request, options).run() };
}

/** One call of a model: attempts until one succeeds or another makes no sense. */
class ModelCall {
  readonly #server: OpenAiServer;
  readonly #request: ModelRequest;
  readonly #options: OpenAiCompatibleOptions;
  readonly #attempts: Attempt[] = [];
  /** Failed attempts, except those that only adapted the request. */
  #failures = 0;
  /** What interrupted attempts had received. */
  #received: ReceivedOutput | null = null;

  constructor(server: OpenAiServer, request: ModelRequest, options: OpenAiCompatibleOptions) {
    this.#server = server;
    this.#request = request;
    this.#options = options;
  }

  async run(): Promise<ModelReply> {
    const { clock } = this.#options;
    for (;;) {
      this.#stopIfAborted();
      const startedAt = clock.now();
      const streamed = new StreamedCompletion(this.#request.onText ?? (() => undefined));
      try {
        const { reasoning, ...reply } = await this.#server.attempt(this.#request, streamed);
        this.#record(startedAt, null);
        const own = reply.usage ?? (await countUsage(this.#request, { ...reply, reasoning }));
        const usage = addUsage(this.#received, own);
        return { ...reply, usage, provider: this.#options.name, attempts: this.#attempts };
      } catch (error) {
        const fault = await this.#readFault(error, streamed);
        if (this.#request.signal.aborted) this.#record(startedAt, "stopped");
        this.#stopIfAborted();
        if (this.#server.adapt(error, this.#request.model)) this.#record(startedAt, fault.message, 0);
        else await this.#waitAfter(fault, startedAt);
      }
    }
  }

  /** Why an attempt failed. Keeps what it had received. */
  async #readFault(error: unknown, streamed: StreamedCompletion): Promise<Fault> {
    const output = await streamed.received(this.#request);
    if (output !== null) this.#received = { ...output, usage: addUsage(this.#received, output.usage) };
    const { name, apiKey, redact, clock } = this.#options;
    return readFault(error, { name, apiKey, redact }, clock.now());
  }

  /** Waits for the next attempt after a failed one. Throws ModelError if there is none. */
  async #waitAfter(fault: Fault, startedAt: Date): Promise<void> {
    const { maxAttempts = 5, random, sleep } = this.#options;
    const { signal, onRetry } = this.#request;
    const { message, reason, cause, retryAfterMs = 0 } = fault;
    this.#failures += 1;
    if (reason !== "unavailable" || this.#failures >= maxAttempts || retryAfterMs > MAX_RETRY_AFTER_MS) {
      this.#record(startedAt, message);
      const failure = { reason, attempts: this.#attempts, received: this.#received, cause };
      throw new ModelError(message.charAt(0).toUpperCase() + message.slice(1), failure);
    }
    const backoff = Math.min(MAX_WAIT_MS, FIRST_WAIT_MS * 2 ** (this.#failures - 1)) * (0.5 + random() / 2);
    const waitMs = Math.max(retryAfterMs, backoff);
    this.#record(startedAt, message, waitMs);
    await onRetry?.(this.#attempts);
    await sleep(waitMs, signal).finally(() => this.#stopIfAborted());
  }

  #record(startedAt: Date, error: string | null, waitMs?: number): void {
    const now = this.#options.clock.now().getTime();
    this.#attempts.push({
      startedAt: startedAt.toISOString(),
      durationMs: Math.max(0, now - startedAt.getTime()),
      error,
      ...(waitMs === undefined ? {} : { retryAt: new Date(now + waitMs).toISOString() }),
    });
  }

  #stopIfAborted(): void {
    const { aborted, reason: cause } = this.#request.signal;
    if (!aborted) return;
    const received = this.#received;
    throw received === null ? cause : new ModelCallStopped({ attempts: this.#attempts, received, cause });
  }
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
