import type { Clock } from "@/server/base/clock";
import { ContextFit, InputTooLong } from "@/server/work/models/context/context-fit";
import { LONGEST_WAIT_MS } from "@/server/work/models/pace/pace";
import type { Paces } from "@/server/work/models/pace/paces";
import { Turns } from "@/server/work/models/pace/turns";
import {
  type Attempt,
  ModelCallStopped,
  ModelError,
  type ModelReply,
  type ModelRequest,
  type ModelUsage,
  type ReceivedOutput,
  type Shortening,
} from "@/server/work/models/port";
import { countUsage } from "@/server/work/models/tokens/tokens";
import { type FlawedAnswer, findErrorFlaw, findFlaw } from "../errors/answer-flaws";
import { IN_ONE_PIECE } from "../errors/describe-changes";
import { type ProviderError, readProviderError } from "../errors/provider-error";
import type { ReadReply } from "../errors/replies";
import type { StreamedReply } from "./model-interface";
import type { ModelServer, ServerOptions } from "./model-server";
import { addUsage } from "./reported-usage";

export type CallOptions = ServerOptions & {
  clock: Clock;
  /** From 0 to 1, for the jitter of delays. */
  random: () => number;
  sleep: (ms: number, signal: AbortSignal) => Promise<void>;
  /** Unset: calls are sent at once. */
  paces?: Paces;
  /** 5 by default. */
  maxAttempts?: number;
};

const NO_OUTPUT = { content: "", reasoning: "", toolCalls: [] };
const FIRST_WAIT_MS = 500;
const MAX_WAIT_MS = 20_000;
// For a server whose rejections lead in a circle.
const MAX_ADAPTATIONS = 10;

/** One call of a model: attempts until one succeeds or another makes no sense. */
export class ModelCall {
  readonly #server: ModelServer;
  #request: ModelRequest;
  readonly #options: CallOptions;
  readonly #attempts: Attempt[] = [];
  readonly #turns: Turns | null;
  readonly #fit: ContextFit;
  #changes: string[] = [];
  #shortened: readonly Shortening[] = [];
  /** Excludes attempts that only adapted the request. */
  #failures = 0;
  #adaptations = 0;
  #raisedFrom: number | undefined;
  #wantedOutput: number;
  #wasEmpty = false;
  #isInOnePiece = false;
  #received: ReceivedOutput | null = null;
  #usageText: string | undefined;

  constructor(server: ModelServer, request: ModelRequest, options: CallOptions) {
    this.#server = server;
    this.#request = request;
    this.#wantedOutput = request.maxOutputTokens;
    this.#fit = new ContextFit(server, request);
    this.#options = options;
    const { organizationId } = request;
    const { paces, clock } = options;
    this.#turns =
      paces === undefined || organizationId === undefined
        ? null
        : new Turns(paces.of(server.address, organizationId), clock);
  }

  async run(): Promise<ModelReply> {
    const { clock } = this.#options;
    for (;;) {
      this.#stopIfAborted();
      if (this.#turns !== null && !this.#turns.tryTake())
        await this.#turns.take(this.#attempts, this.#request).finally(() => this.#stopIfAborted());
      this.#usageText = undefined;
      if (!this.#fit.fits(this.#request)) await this.#fitRequest();
      const startedAt = clock.now();
      this.#changes = this.#describeChanges();
      this.#shortened = this.#fit.shortened;
      const streamed = this.#server.collect(this.#request);
      let reply: ReadReply;
      try {
        reply = await this.#server.attempt(this.#request, streamed, this.#turns?.accept);
      } catch (error) {
        const providerError = await this.#readProviderError(error, streamed);
        const isSlowed = this.#turns?.end(error, providerError) ?? false;
        if (this.#request.signal.aborted) this.#record(startedAt, "stopped");
        this.#stopIfAborted();
        const flaw = findErrorFlaw(error, this.#request);
        if (flaw !== null) {
          const last = await countUsage(this.#server.asSent(this.#request), NO_OUTPUT);
          await this.#repeatAfter(flaw, { startedAt, last });
        } else if (await this.#adapt(error, { providerError, startedAt }))
          this.#record(startedAt, providerError.message, 0);
        else await this.#waitAfter(this.#ofRepeat(providerError), { startedAt, isSlowed });
        continue;
      }
      const { content, reasoning, state, toolCalls, finishReason } = reply;
      this.#usageText = reply.usageText;
      const own = reply.usage ?? (await countUsage(this.#server.asSent(this.#request), reply));
      if (reply.usage !== null) await this.#fit.answered(this.#request, reply.usage);
      const usage = this.#withReceived(own);
      const flaw = findFlaw(reply, this.#request);
      if (flaw === null || (flaw.flaw === "empty" && this.#wasEmpty && toolCalls.length > 0)) {
        this.#record(startedAt, null);
        const { name: provider } = this.#options;
        const attempts = this.#attempts;
        return { content, reasoning, state, toolCalls, finishReason, usage, provider, attempts };
      }
      this.#received = { content, usage };
      await this.#repeatAfter(flaw, { startedAt, last: own });
    }
  }

  #describeChanges(): string[] {
    const changes = this.#server.describeChanges(this.#request);
    const limit = this.#server.sentLimit(this.#request);
    if (limit < this.#wantedOutput)
      changes.push(`the output was limited to ${limit.toLocaleString("en-US")} tokens`);
    if (this.#isInOnePiece) changes.push(IN_ONE_PIECE);
    if (this.#fit.description !== null) changes.push(this.#fit.description);
    return changes;
  }

  /** Throws ModelError if the request cannot fit. */
  async #fitRequest(): Promise<void> {
    try {
      this.#request = await this.#fit.before(this.#request);
    } catch (error) {
      if (!(error instanceof InputTooLong)) throw error;
      const providerError = {
        message: error.message,
        reason: "input_too_long",
        fallsBack: false,
        isFinal: true,
        cause: error,
      } as const;
      throw this.#failure({ ...providerError, retryAfterMs: undefined }, this.#options.clock.now());
    }
  }

  /** Returns true if the changed request can be repeated at once. Throws ModelError with the figures. */
  async #adapt(
    error: unknown,
    { providerError, startedAt }: { providerError: ProviderError; startedAt: Date },
  ): Promise<boolean> {
    if (this.#adaptations >= MAX_ADAPTATIONS) return false;
    const isAdapted =
      (await this.#shorten(error, { providerError, startedAt })) ||
      this.#lowerLimit(error) ||
      this.#leaveStream(error) ||
      this.#server.adapt(error, this.#request);
    if (isAdapted) this.#adaptations += 1;
    return isAdapted;
  }

  async #shorten(
    error: unknown,
    { providerError, startedAt }: { providerError: ProviderError; startedAt: Date },
  ): Promise<boolean> {
    if (providerError.reason !== "input_too_long" || this.#raisedFrom !== undefined) return false;
    try {
      const fitted = await this.#fit.after(error, this.#request);
      if (fitted === null) return false;
      this.#request = fitted;
      return true;
    } catch (failure) {
      if (!(failure instanceof InputTooLong)) throw failure;
      throw this.#failure(
        { ...providerError, message: `${providerError.message}; ${failure.message}` },
        startedAt,
      );
    }
  }

  /** Throws ModelError if there is no repeat. */
  async #repeatAfter(
    flaw: FlawedAnswer,
    { startedAt, last }: { startedAt: Date; last: ModelUsage },
  ): Promise<void> {
    const providerError = this.#describe(flaw);
    if (flaw.flaw === "unavailable") return this.#waitAfter(providerError, { startedAt, isSlowed: false });
    let { message } = providerError;
    if (flaw.flaw === "empty" && !this.#wasEmpty) {
      this.#wasEmpty = true;
      return this.#repeat(message, startedAt);
    }
    if (flaw.flaw === "empty") message += " twice";
    if (flaw.flaw === "window")
      message +=
        ". Shorten the prompt or the message, return less from tools, or choose a model with a larger window";
    if (flaw.flaw === "truncated") {
      const { maxOutputTokens, raiseLimit } = this.#request;
      const maximum = await this.#server.maxOutputTokens(this.#request);
      if (this.#raisedFrom === undefined && maximum > maxOutputTokens) {
        const total = this.#received?.usage ?? last;
        const raised = Math.min((await raiseLimit?.({ last, total, maximum })) ?? maxOutputTokens, maximum);
        if (raised > maxOutputTokens) {
          this.#raisedFrom = maxOutputTokens;
          this.#wantedOutput = raised;
          this.#request = { ...this.#request, maxOutputTokens: raised };
          return this.#repeat(message, startedAt);
        }
      }
      const isRaisable = this.#raisedFrom === undefined && maxOutputTokens < maximum;
      if (isRaisable && raiseLimit === undefined)
        message += ". Raise maxOutputTokens, or ask for a shorter answer";
      else
        message += isRaisable
          ? "; the run's credits do not cover a larger limit. Add credits or raise maxCredits, or ask for a shorter answer"
          : ", the largest possible. Ask for a shorter answer or less reasoning, or choose another model";
    }
    throw this.#failure({ ...providerError, message }, startedAt);
  }

  /** If the larger limit is rejected, the answer stays cut off. */
  #ofRepeat(providerError: ProviderError): ProviderError {
    if (
      this.#raisedFrom === undefined ||
      (providerError.reason !== "rejected" && providerError.reason !== "input_too_long")
    )
      return providerError;
    const limit = this.#raisedFrom.toLocaleString("en-US");
    const message = `the answer was cut off at the limit of ${limit} output tokens, and ${providerError.message}`;
    return { ...providerError, reason: "truncated", fallsBack: false, isFinal: true, message };
  }

  async #repeat(message: string, startedAt: Date): Promise<void> {
    this.#record(startedAt, message, 0);
    await this.#request.onRetry?.(this.#attempts);
  }

  #lowerLimit(error: unknown): boolean {
    const maximum = this.#server.readMaximum(error, this.#request);
    if (maximum === null || maximum <= (this.#raisedFrom ?? 0)) return false;
    this.#request = { ...this.#request, maxOutputTokens: maximum };
    return true;
  }

  #leaveStream(error: unknown): boolean {
    const request = this.#server.inOnePiece(error, this.#request);
    if (request === null) return false;
    this.#request = request;
    this.#isInOnePiece = true;
    return true;
  }

  async #readProviderError(error: unknown, streamed: StreamedReply): Promise<ProviderError> {
    const output = await streamed.received(this.#server.asSent(this.#request));
    if (output !== null) this.#received = { ...output, usage: this.#withReceived(output.usage) };
    return this.#describe(error);
  }

  #withReceived(own: ModelUsage): ModelUsage {
    return this.#received === null ? own : addUsage(this.#received.usage, own);
  }

  #describe(error: unknown): ProviderError {
    const { name, apiKey, redact, clock } = this.#options;
    return readProviderError(error, { name, apiKey, redact }, clock.now());
  }

  #failure({ message, reason, fallsBack, cause }: ProviderError, startedAt: Date): ModelError {
    this.#record(startedAt, message);
    const failure = { reason, fallsBack, attempts: this.#attempts, received: this.#received, cause };
    return new ModelError(message.charAt(0).toUpperCase() + message.slice(1), failure);
  }

  /** Throws ModelError if there is no next attempt. @param isSlowed The call waits for its turn. */
  async #waitAfter(
    providerError: ProviderError,
    { startedAt, isSlowed }: { startedAt: Date; isSlowed: boolean },
  ): Promise<void> {
    const { maxAttempts = 5, random, sleep } = this.#options;
    const { signal, onRetry } = this.#request;
    const { message, isFinal, retryAfterMs = 0 } = providerError;
    this.#failures += 1;
    if (isFinal || this.#failures >= maxAttempts || retryAfterMs > LONGEST_WAIT_MS) {
      throw this.#failure(providerError, startedAt);
    }
    const backoff = Math.min(MAX_WAIT_MS, FIRST_WAIT_MS * 2 ** (this.#failures - 1)) * (0.5 + random() / 2);
    const waitMs = isSlowed ? this.#turns?.expectedWaitMs : Math.max(retryAfterMs, backoff);
    this.#record(startedAt, message, waitMs);
    await onRetry?.(this.#attempts);
    if (isSlowed || waitMs === undefined) return;
    await sleep(waitMs, signal).finally(() => this.#stopIfAborted());
  }

  #record(startedAt: Date, error: string | null, waitMs?: number): void {
    const now = this.#options.clock.now().getTime();
    this.#attempts.push({
      startedAt: startedAt.toISOString(),
      durationMs: Math.max(0, now - startedAt.getTime()),
      error,
      ...(this.#usageText === undefined ? {} : { usage: this.#usageText }),
      ...(waitMs === undefined ? {} : { retryAt: new Date(now + waitMs).toISOString() }),
      ...(this.#changes.length > 0 && { changes: this.#changes }),
      ...(this.#shortened.length > 0 && { shortened: [...this.#shortened] }),
    });
  }

  #stopIfAborted(): void {
    const { aborted, reason: cause } = this.#request.signal;
    if (!aborted) return;
    const received = this.#received;
    throw received === null ? cause : new ModelCallStopped({ attempts: this.#attempts, received, cause });
  }
}
