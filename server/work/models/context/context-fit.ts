import { MIB } from "@/server/contract/sizes";
import type { ModelMessage, ModelRequest, Shortening } from "@/server/work/models/port";
import { boundRequestTokens } from "@/server/work/models/tokens/token-bound";
import { countMessageTokens, countRequestTokens } from "@/server/work/models/tokens/tokens";
import { readOverflow } from "../errors/overflow";
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
  learnContext(asked: Asked, context: Context): void;
};

/** The request does not fit, even shortened. The message has the figures. */
export class InputTooLong extends Error {
  override name = "InputTooLong";
}

/** Makes the requests of one model call fit into the model's context window. */
export class ContextFit {
  readonly #server: Windows;
  readonly #messages: readonly ModelMessage[];
  shortened: readonly Shortening[] = [];
  description: string | null = null;

  constructor(server: Windows, { messages }: ModelRequest) {
    this.#server = server;
    this.#messages = messages;
  }

  fits(request: ModelRequest): boolean {
    const most = this.#server.surelyFits(request);
    return most === Number.POSITIVE_INFINITY || boundRequestTokens(request) + request.maxOutputTokens <= most;
  }

  /** Throws InputTooLong. */
  async before(request: ModelRequest): Promise<ModelRequest> {
    const context = await this.#server.contextOf(request);
    const { window, ratio } = context;
    if (window === Number.POSITIVE_INFINITY) return request;
    if (boundRequestTokens(request) * ratio + request.maxOutputTokens <= window) return request;
    return this.#fit(request, context);
  }

  /**
   * The request for the next attempt if the provider rejected the last one as too long. Null for another error, or
   * if less output is enough. Throws InputTooLong.
   */
  async after(error: unknown, request: ModelRequest): Promise<ModelRequest | null> {
    const overflow = readOverflow(error);
    if (overflow === null) return null;
    const length = request.messages.reduce((sum, { content }) => sum + content.length, 0);
    const isCounted = length <= MAX_COUNTED_LENGTH;
    const counted = isCounted ? await countRequestTokens(request) : boundRequestTokens(request);
    const known = await this.#server.contextOf(request);
    const { window, input } = overflow;
    const ratio =
      input === null || !isCounted
        ? known.ratio
        : Math.min(MAX_RATIO, Math.max(1 / MAX_RATIO, input / counted));
    const context = {
      window: Math.min(known.window, window ?? Math.floor(counted * ratio * ASSUMED_SHARE)),
      ratio,
    };
    this.#server.learnContext(request, context);
    if (window !== null && input !== null && window - input >= ROOM_FOR_OUTPUT) return null;
    const before = this.shortened;
    const fitted = await this.#fit(request, context);
    const isSame =
      this.shortened.length === before.length && this.shortened.at(-1)?.before === before.at(-1)?.before;
    return isSame && fitted.maxOutputTokens === request.maxOutputTokens ? null : fitted;
  }

  async #fit(request: ModelRequest, { window, ratio }: Context): Promise<ModelRequest> {
    const count = async (shortened: readonly Shortening[]) => {
      const { messages } = shortenMessages(this.#messages, shortened);
      return Math.ceil((await countRequestTokens({ ...request, messages })) * ratio);
    };
    const room = Math.min(ROOM_FOR_OUTPUT, request.maxOutputTokens);
    this.shortened = await this.#findShortening(count, { most: window - room, ratio });
    const tokens = await count(this.shortened);
    const { messages, outputs, bytesBefore, bytesAfter } = shortenMessages(this.#messages, this.shortened);
    const inWords = (figure: number) => figure.toLocaleString("en-US");
    if (tokens >= window) {
      const cut = outputs === 0 ? "" : `, with ${inWords(outputs)} of the functions' outputs shortened`;
      throw new InputTooLong(
        `the input has about ${inWords(tokens)} tokens${cut}, and the context window of ${request.model} has ${inWords(window)}`,
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
