import { z } from "zod";
import { replaceNul } from "@/server/guard/secrets/stored-output";
import {
  MAX_RECORDED_CALLS,
  MAX_REPLY_LENGTH,
  type Prompt,
  type ReceivedOutput,
} from "@/server/work/models/port";
import { countUsage } from "@/server/work/models/tokens/tokens";
import { ReplyError, ReplyTooLarge, readUsage } from "./chat-completion";

/**
 * Joins the pieces of a streamed chat completion to the body it would have without streaming. Only their frame is read
 * here; their content is parsed like that of any response.
 */

/** The highest index of a call in a stream. */
const MAX_CALL_INDEX = 65_535;

/** Pieces that form no reply; the same server may well give one without streaming. */
export class PiecesError extends ReplyError {
  override name = "PiecesError";
}

const callPiece = z.object({
  index: z.int().min(0).max(MAX_CALL_INDEX).nullish(),
  id: z.string().nullish(),
  function: z.object({ name: z.string().nullish(), arguments: z.unknown().optional() }).nullish(),
});
const delta = z.object({
  content: z.string().nullish(),
  refusal: z.string().nullish(),
  // The model's reasoning, as named by vLLM, DeepSeek and OpenRouter.
  reasoning_content: z.unknown().optional(),
  reasoning: z.unknown().optional(),
  tool_calls: z.array(callPiece).nullish(),
});
const piece = z.object({
  choices: z
    .array(
      z.object({ index: z.int().nullish(), delta: delta.nullish(), finish_reason: z.string().nullish() }),
    )
    .nullish(),
  usage: z.unknown().optional(),
});

type CallInParts = { id: string | undefined; name: string; arguments: string };

const textOf = (value: unknown) => (typeof value === "string" ? value : "");

/** A streamed reply as far as it has arrived. */
export class StreamedCompletion {
  readonly #onText: (text: string) => void;
  #content = "";
  #refusal = "";
  #reasoning = "";
  #length = 0;
  #finishReason: string | null = null;
  #usage: unknown;
  readonly #calls = new Map<number, CallInParts>();
  /** The indexes of calls beyond the limit. */
  readonly #further = new Set<number>();
  #lastCall = -1;

  /** @param onText called with the complete text so far whenever there is more. */
  constructor(onText: (text: string) => void) {
    this.#onText = onText;
  }

  /** Adds the next piece. Throws PiecesError for an invalid one, and ReplyTooLarge. */
  add(raw: unknown): void {
    const parsed = piece.safeParse(raw);
    if (!parsed.success) throw new PiecesError("a chunk of the answer is not part of a chat completion");
    this.#usage = parsed.data.usage ?? this.#usage;
    const choice = parsed.data.choices?.find(({ index }) => (index ?? 0) === 0);
    if (!choice) return;
    this.#finishReason = choice.finish_reason ?? this.#finishReason;
    if (!choice.delta) return;
    const { content, refusal, reasoning_content, reasoning, tool_calls } = choice.delta;
    this.#refusal += this.#counted(refusal ?? "");
    this.#reasoning += this.#counted(textOf(reasoning_content ?? reasoning));
    for (const each of tool_calls ?? []) this.#addCall(each);
    if (content) {
      this.#content += this.#counted(content);
      this.#onText(this.#content);
    }
  }

  get furtherCalls(): number {
    return this.#further.size;
  }

  /** What has been received so far, with the provider's usage if it was reported, else counted; null before any output. */
  async received(request: Prompt): Promise<ReceivedOutput | null> {
    const toolCalls = [...this.#calls.values()].map((call) => ({ ...call, id: call.id ?? "" }));
    if (this.#length === 0 && toolCalls.length === 0) return null;
    const output = { content: this.#content || this.#refusal, reasoning: this.#reasoning, toolCalls };
    const usage = readUsage(this.#usage) ?? (await countUsage(request, output));
    return { content: replaceNul(output.content), usage };
  }

  /** The reply as a complete body. Throws PiecesError if it is incomplete. */
  toBody(): object {
    if (this.#finishReason === null) throw new PiecesError("the answer ended before it was complete");
    const toolCalls = [...this.#calls.entries()]
      .sort(([a], [b]) => a - b)
      .map(([, { id, ...called }]) => ({ id, function: called }));
    const message = {
      content: this.#content,
      refusal: this.#refusal,
      reasoning: this.#reasoning,
      tool_calls: toolCalls,
    };
    return { choices: [{ message, finish_reason: this.#finishReason }], usage: this.#usage };
  }

  #counted(text: string): string {
    this.#length += text.length;
    if (this.#length > MAX_REPLY_LENGTH) {
      throw new ReplyTooLarge(`The answer is longer than ${MAX_REPLY_LENGTH} characters.`);
    }
    return text;
  }

  /** Adds to the call with the piece's index. Servers without indexes send complete calls, or continue the last one. */
  #addCall({ index, id, function: called }: z.infer<typeof callPiece>): void {
    const begins = index === undefined || index === null ? Boolean(id ?? called?.name) : !this.#knows(index);
    const at = index ?? (begins ? this.#lastCall + 1 : this.#lastCall);
    if (at < 0) return;
    if (at > MAX_CALL_INDEX) throw new PiecesError("the answer contains too many calls");
    this.#lastCall = Math.max(this.#lastCall, at);
    if (this.#further.has(at) || (begins && this.#calls.size >= MAX_RECORDED_CALLS)) {
      this.#further.add(at);
      return;
    }
    const call = this.#calls.get(at) ?? { id: undefined, name: "", arguments: "" };
    this.#calls.set(at, call);
    if (call.id === undefined && typeof id === "string") call.id = this.#counted(id);
    // Some servers repeat the name in every piece.
    if (call.name === "") call.name = this.#counted(called?.name ?? "");
    const piece = called?.arguments ?? "";
    call.arguments += this.#counted(typeof piece === "string" ? piece : JSON.stringify(piece));
  }

  #knows(index: number): boolean {
    return this.#calls.has(index) || this.#further.has(index);
  }
}
