import { z } from "zod";
import { writeJson } from "@/server/base/json/json";
import { replaceNul } from "@/server/guard/secrets/stored-output";
import type { StreamedReply } from "@/server/work/models/calls/model-interface";
import { brokenPieces, replyTooLarge } from "@/server/work/models/errors/replies";
import type { Block } from "@/server/work/models/message-state";
import {
  MAX_RECORDED_CALLS,
  MAX_REPLY_LENGTH,
  type ModelRequest,
  type Prompt,
  type ReceivedOutput,
} from "@/server/work/models/port";
import { countUsage } from "@/server/work/models/tokens/tokens";
import { answerToolOf } from "./answer-tool";
import { inputText, readMessageUsage, textOf, thinkingOf } from "./message";

/** Gives the body that the reply would have without streaming: Anthropic's documentation of streams. */

const event = z.looseObject({ type: z.string() });
const startEvent = z.object({ message: z.looseObject({ usage: z.looseObject({}).nullish() }) });
const blockEvent = z.object({ index: z.int().min(0), content_block: z.looseObject({ type: z.string() }) });
const deltaEvent = z.object({
  index: z.int().min(0),
  delta: z.looseObject({
    type: z.string(),
    text: z.string().optional(),
    partial_json: z.string().optional(),
    thinking: z.string().optional(),
    signature: z.string().optional(),
    citation: z.unknown().optional(),
  }),
});
const endEvent = z.object({ delta: z.looseObject({}), usage: z.looseObject({}).nullish() });

// Counted for a block besides its texts: eight thousand blocks are possible.
const BLOCK_LENGTH = 1_024;
const FURTHER_LENGTH = 64;

export class StreamedMessage implements StreamedReply {
  readonly #onText: (text: string) => void;
  readonly #answerTool: string | undefined;
  readonly #blocks = new Map<number, Block>();
  readonly #further = new Set<number>();
  #calls = 0;
  #length = 0;
  #shown = "";
  #shownIndex: number | undefined;
  #message: Record<string, unknown> = {};
  #usage: Record<string, unknown> = {};
  #hasOutputUsage = false;
  #isComplete = false;

  constructor(onText: (text: string) => void, request: ModelRequest) {
    this.#onText = onText;
    this.#answerTool = answerToolOf(request)?.name;
  }

  get furtherCalls(): number {
    return this.#further.size;
  }

  add(piece: unknown): void {
    switch (read(event, piece).type) {
      case "message_start": {
        const { message } = read(startEvent, piece);
        this.#message = message;
        this.#addUsage(message.usage);
        break;
      }
      case "content_block_start":
        this.#begin(read(blockEvent, piece));
        break;
      case "content_block_delta":
        this.#addDelta(read(deltaEvent, piece));
        break;
      case "message_delta": {
        const { delta, usage } = read(endEvent, piece);
        Object.assign(this.#message, delta);
        this.#addUsage(usage);
        this.#hasOutputUsage ||= typeof usage?.output_tokens === "number";
        this.#isComplete ||= typeof delta.stop_reason === "string";
      }
    }
  }

  async received(request: Prompt): Promise<ReceivedOutput | null> {
    const reported = readMessageUsage(this.#usage);
    if (this.#length === 0 && reported === null) return null;
    const blocks = this.#inOrder();
    const toolCalls = blocks
      .filter(({ type }) => type === "tool_use")
      .map(({ name, input }) => ({ id: "", name: String(name), arguments: inputText(input) }));
    const output = { content: textOf(blocks), reasoning: thinkingOf(blocks), toolCalls };
    const content = replaceNul(output.content);
    if (reported !== null && this.#hasOutputUsage) return { content, usage: reported };
    const counted = await countUsage(request, output);
    // The first event reports the input.
    return {
      content,
      usage: { ...counted, ...reported, outputTokens: counted.outputTokens, estimated: true },
    };
  }

  toBody(): object {
    if (!this.#isComplete) throw brokenPieces("the answer ended before it was complete");
    return { ...this.#message, content: this.#inOrder(), usage: this.#usage };
  }

  #inOrder(): Block[] {
    return [...this.#blocks].sort(([a], [b]) => a - b).map(([, block]) => block);
  }

  #begin({ index, content_block: block }: z.infer<typeof blockEvent>): void {
    const isCall = block.type === "tool_use" && block.name !== this.#answerTool;
    if (isCall) this.#calls += 1;
    if (isCall && this.#calls > MAX_RECORDED_CALLS) {
      this.#count(FURTHER_LENGTH);
      this.#further.add(index);
      return;
    }
    this.#count(BLOCK_LENGTH + writeJson(block).length);
    this.#blocks.set(index, block);
  }

  #addDelta({ index, delta }: z.infer<typeof deltaEvent>): void {
    if (this.#further.has(index)) return;
    const block = this.#blocks.get(index);
    if (block === undefined) throw brokenPieces("a chunk of the answer belongs to no block");
    this.#append(block, "text", delta.text);
    // The input follows in pieces of a text, unless the block begins with all of it (BerriAI/litellm#25390).
    if (delta.partial_json) this.#append(block, "input", delta.partial_json);
    this.#append(block, "thinking", delta.thinking);
    this.#append(block, "signature", delta.signature);
    if (delta.citation !== undefined) {
      this.#count(writeJson(delta.citation).length);
      if (Array.isArray(block.citations)) block.citations.push(delta.citation);
      else block.citations = [delta.citation];
    }
    const isAnswer = block.type === "tool_use" && block.name === this.#answerTool;
    const shown = isAnswer ? delta.partial_json : block.type === "text" ? delta.text : undefined;
    if (shown) this.#show(index, shown, isAnswer);
  }

  #append(block: Block, field: string, part: string | undefined): void {
    if (part === undefined) return;
    this.#count(part.length);
    const before = block[field];
    block[field] = typeof before === "string" ? before + part : part;
  }

  #show(index: number, part: string, isAnswer: boolean): void {
    if (this.#shownIndex !== index) {
      const isApart = this.#shown !== "" && this.#blocks.get(index - 1)?.type !== "text";
      if (isAnswer) this.#shown = "";
      else if (isApart) this.#shown += "\n\n";
      this.#shownIndex = index;
    }
    this.#shown += part;
    this.#onText(this.#shown);
  }

  /** Later figures are totals, too. Missing ones stay, and zeros replace none (envoyproxy/ai-gateway#1631). */
  #addUsage(usage: Record<string, unknown> | null | undefined): void {
    for (const [name, value] of Object.entries(usage ?? {}))
      if (value !== null && value !== undefined && (value !== 0 || !this.#usage[name]))
        this.#usage[name] = value;
  }

  #count(length: number): void {
    this.#length += length;
    if (this.#length > MAX_REPLY_LENGTH) throw replyTooLarge("The answer", MAX_REPLY_LENGTH);
  }
}

function read<Schema extends z.ZodType>(schema: Schema, piece: unknown): z.output<Schema> {
  const parsed = schema.safeParse(piece);
  if (!parsed.success) throw brokenPieces("a chunk of the answer is not an event of a message");
  return parsed.data;
}
