import { z } from "zod";
import { MAX_ANSWER_LENGTH, MAX_RECORDED_CALLS } from "@/server/models/answer-limits";
import { AnswerError, AnswerTooLarge, MAX_ID_LENGTH } from "@/server/models/chat-completion";
import type { ToolCall } from "@/server/models/port";

/**
 * Joins the pieces of a streamed chat completion to the body it would have had in one. The content of the pieces is
 * trusted as little as a whole answer; only their frame is read here.
 */

/** Highest number that a call may have in a stream. */
const MAX_CALL_INDEX = 65_535;

/** Pieces that make no answer; the same server may well give a whole one. */
export class PiecesError extends AnswerError {
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
  // What the model thought, under the names that vLLM, DeepSeek and OpenRouter give it.
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

/** The text of what should be text, else "". */
const textOf = (value: unknown) => (typeof value === "string" ? value : "");

/** One streamed answer as far as it has come. */
export class StreamedCompletion {
  readonly #onText: (text: string) => void;
  #content = "";
  #refusal = "";
  #reasoning = "";
  #length = 0;
  #finishReason: string | null = null;
  #usage: unknown;
  readonly #calls = new Map<number, CallInParts>();
  /** The numbers of calls beyond those that are kept. */
  readonly #further = new Set<number>();
  #lastCall = -1;

  /** @param onText is told all text so far whenever there is more of it. */
  constructor(onText: (text: string) => void) {
    this.#onText = onText;
  }

  /** Adds the next piece. Throws PiecesError for what is none, and AnswerTooLarge. */
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

  /** How many calls came beyond those that are kept. */
  get furtherCalls(): number {
    return this.#further.size;
  }

  /** What has been received so far, with the usage if the provider reported it already; null before any output. */
  received(): { content: string; reasoning: string; toolCalls: ToolCall[]; usage: unknown } | null {
    const toolCalls = [...this.#calls.values()].map((call, index) => ({
      ...call,
      id: call.id ?? `${index}`,
    }));
    const content = this.#content === "" ? this.#refusal : this.#content;
    if (this.#length === 0 && toolCalls.length === 0) return null;
    return { content, reasoning: this.#reasoning, toolCalls, usage: this.#usage };
  }

  /** The answer as a whole body. Throws PiecesError when it has not come to its end. */
  toBody(): object {
    if (this.#finishReason === null) throw new PiecesError("the answer ended before it was complete");
    const toolCalls = [...this.#calls.entries()]
      .sort(([a], [b]) => a - b)
      .map(([, { id, ...called }]) => ({ ...(id === undefined ? {} : { id }), function: called }));
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
    if (this.#length > MAX_ANSWER_LENGTH) {
      throw new AnswerTooLarge(`The answer is longer than ${MAX_ANSWER_LENGTH} characters.`);
    }
    return text;
  }

  /** Adds to the call with the piece's number; servers that number none send calls whole, or go on with the last. */
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
    call.id ??= id?.slice(0, MAX_ID_LENGTH);
    // Some servers repeat the name in every piece.
    if (call.name === "") call.name = this.#counted(called?.name ?? "");
    const more = called?.arguments ?? "";
    call.arguments += this.#counted(typeof more === "string" ? more : JSON.stringify(more));
  }

  #knows(index: number): boolean {
    return this.#calls.has(index) || this.#further.has(index);
  }
}
