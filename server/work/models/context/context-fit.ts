import { MIB } from "@/server/contract/sizes";
import { LEAST_OUTPUT_TOKENS } from "@/server/credits/prices";
import type { ModelMessage, ModelRequest, ModelUsage, Shortening } from "@/server/work/models/port";
import { boundRequestTokens } from "@/server/work/models/tokens/token-bound";
import { countMessageTokens, countRequestTokens } from "@/server/work/models/tokens/tokens";
import { readMinuteLimit, readOverflow } from "../errors/overflow";
import { endOfOld, KEPT_BYTES, shortenMessage, shortenMessages } from "./shorten";

const ROOM_FOR_OUTPUT = 1_000;
// A provider that states no figures is assumed to take this share of the rejected request.
const ASSUMED_SHARE = 0.8;
// Other vocabularies give at most this many times as many tokens, or as few.
const MAX_RATIO = 5;

// Counting a longer conversation exactly takes seconds.
const MAX_COUNTED_LENGTH = 2 * MIB;

type Context = { window: number; ratio: number };
type Asked = Pick<ModelRequest, "organizationId" | "model">;
type Windows = {
  contextOf(asked: Asked): Promise<Context>;
  surelyFits(asked: Asked): number;
  asSent(request: ModelRequest): ModelRequest;
  sentLimit(request: ModelRequest): number;
  learnContext(asked: Asked, context: Context): void;
};

const limitRatio = (ratio: number) => Math.min(MAX_RATIO, Math.max(1 / MAX_RATIO, ratio));

async function countTokens(request: ModelRequest): Promise<{ counted: number; isCounted: boolean }> {
  const length = request.messages.reduce((sum, { content }) => sum + content.length, 0);
  const isCounted = length <= MAX_COUNTED_LENGTH;
  return { counted: isCounted ? await countRequestTokens(request) : boundRequestTokens(request), isCounted };
}

/** The request does not fit, even shortened. The message has the figures. */
export class InputTooLong extends Error {
  override name = "InputTooLong";
}

/** Makes the requests of one model call fit into the model's context window. */
export class ContextFit {
  readonly #server: Windows;
  readonly #messages: readonly ModelMessage[];
  #isUnsure = false;
  #lastRequested = 0;
  shortened: readonly Shortening[] = [];
  description: string | null = null;

  constructor(server: Windows, { messages }: ModelRequest) {
    this.#server = server;
    this.#messages = messages;
  }

  fits(request: ModelRequest): boolean {
    const most = this.#server.surelyFits(request);
    return most === Number.POSITIVE_INFINITY || this.#bound(request) + request.maxOutputTokens <= most;
  }

  /** Throws InputTooLong. */
  async before(request: ModelRequest): Promise<ModelRequest> {
    const context = await this.#server.contextOf(request);
    const { window, ratio } = context;
    if (window === Number.POSITIVE_INFINITY) return request;
    if (this.#bound(request) * ratio + request.maxOutputTokens <= window) return request;
    return this.#fit(request, context);
  }

  /**
   * The request for the next attempt if the provider rejected the last one as too long. Null for another error, or
   * if less output is enough. Throws InputTooLong.
   */
  async after(error: unknown, request: ModelRequest): Promise<ModelRequest | null> {
    const perMinute = readMinuteLimit(error);
    if (perMinute !== null) return this.#fitMinute(request, perMinute);
    const overflow = readOverflow(error);
    if (overflow === null) return null;
    const { counted, isCounted } = await countTokens(this.#server.asSent(request));
    const known = await this.#server.contextOf(request);
    const { window, input, isLeast } = overflow;
    const counts = input === null || !isCounted ? known.ratio : limitRatio(input / counted);
    const ratio = isLeast ? Math.max(known.ratio, counts) : counts;
    const context = {
      window: Math.min(known.window, window ?? Math.floor(counted * ratio * ASSUMED_SHARE)),
      ratio,
    };
    this.#server.learnContext(request, context);
    if (window !== null && input !== null && !isLeast && window - input >= ROOM_FOR_OUTPUT) return null;
    // Our own count is too low, and how much more the input has is unknown.
    const isUnknown = isLeast && input !== null && counted * known.ratio <= input;
    const { maxOutputTokens: asked } = request;
    const isOutputLeft = asked > ROOM_FOR_OUTPUT;
    const assumed = isUnknown && !isOutputLeft ? ratio / ASSUMED_SHARE : ratio;
    const most = isUnknown && isOutputLeft ? Math.max(ROOM_FOR_OUTPUT, Math.floor(asked / 2)) : asked;
    this.#isUnsure ||= isLeast;
    const before = this.shortened;
    const fitted = await this.#fit({ ...request, maxOutputTokens: most }, { ...context, ratio: assumed });
    return this.#isSame(before) && fitted.maxOutputTokens === asked ? null : fitted;
  }

  #bound(request: ModelRequest): number {
    return boundRequestTokens(this.#server.asSent(request));
  }

  #isSame(before: readonly Shortening[]): boolean {
    return this.shortened.length === before.length && this.shortened.at(-1)?.before === before.at(-1)?.before;
  }

  /** It says nothing about the model, so nothing is learned. */
  async #fitMinute(
    request: ModelRequest,
    { limit, requested }: { limit: number; requested: number },
  ): Promise<ModelRequest | null> {
    const output = this.#server.sentLimit(request);
    // A provider that requests the same with less output does not count the output.
    const isOutputCounted = requested > output && requested !== this.#lastRequested;
    this.#lastRequested = requested;
    const input = isOutputCounted ? requested - output : requested;
    if (isOutputCounted && limit - input >= ROOM_FOR_OUTPUT)
      return { ...request, maxOutputTokens: limit - input };
    const { counted } = await countTokens(this.#server.asSent(request));
    const before = this.shortened;
    const ratio = limitRatio(input / counted);
    const fitted = await this.#fit(request, {
      window: limit,
      ratio,
      of: "the provider's limit for a minute",
    });
    return this.#isSame(before) && fitted.maxOutputTokens === output ? null : fitted;
  }

  /** Learns what the provider counted for an answered request, if its rejections did not say it. */
  async answered(request: ModelRequest, { inputTokens }: ModelUsage): Promise<void> {
    if (!this.#isUnsure) return;
    const { counted, isCounted } = await countTokens(this.#server.asSent(request));
    const { window } = await this.#server.contextOf(request);
    if (isCounted) this.#server.learnContext(request, { window, ratio: limitRatio(inputTokens / counted) });
  }

  async #fit(
    request: ModelRequest,
    { window, ratio, of = `the context window of ${request.model}` }: Context & { of?: string },
  ): Promise<ModelRequest> {
    const count = async (shortened: readonly Shortening[]) => {
      const { messages } = shortenMessages(this.#messages, shortened);
      return Math.ceil((await countRequestTokens(this.#server.asSent({ ...request, messages }))) * ratio);
    };
    const room = Math.min(ROOM_FOR_OUTPUT, request.maxOutputTokens);
    this.shortened = await this.#findShortening(count, { most: window - room, ratio });
    const tokens = await count(this.shortened);
    const { messages, outputs, bytesBefore, bytesAfter } = shortenMessages(this.#messages, this.shortened);
    const inWords = (figure: number) => figure.toLocaleString("en-US");
    if (window - tokens < LEAST_OUTPUT_TOKENS) {
      const cut = outputs === 0 ? "" : `, with ${inWords(outputs)} of the functions' outputs shortened`;
      throw new InputTooLong(
        `the input has about ${inWords(tokens)} tokens${cut}, and ${of} has ${inWords(window)}`,
      );
    }
    this.description =
      outputs === 0
        ? null
        : `of the functions' outputs, the oldest ${inWords(outputs)} were shortened from ${inWords(bytesBefore)} to ${inWords(bytesAfter)} bytes`;
    return { ...request, messages, maxOutputTokens: Math.min(request.maxOutputTokens, window - tokens) };
  }

  /** The least shortening of the oldest outputs that fits into `most` tokens, or else the greatest. */
  async #findShortening(
    count: (shortened: readonly Shortening[]) => Promise<number>,
    { most, ratio }: { most: number; ratio: number },
  ): Promise<readonly Shortening[]> {
    const end = endOfOld(this.#messages);
    let all: Shortening[] = [];
    if (end === 0) return all;
    for (const keep of KEPT_BYTES) {
      const done = all;
      all = [...done, { before: end, keep }];
      let tokens = await count(all);
      if (tokens > most) continue;
      // From the newest to the oldest: what stays shortened is never counted in full.
      for (let index = end - 1; index >= 0; index -= 1) {
        const message = this.#messages[index];
        if (message?.role !== "tool") continue;
        const [longer, shorter] = [shortenMessage(message, index, done), shortenMessage(message, index, all)];
        if (longer === shorter) continue;
        tokens += ((await countMessageTokens(longer)) - (await countMessageTokens(shorter))) * ratio;
        if (tokens > most) return [...done, { before: index + 1, keep }];
      }
      return done;
    }
    return all;
  }
}
