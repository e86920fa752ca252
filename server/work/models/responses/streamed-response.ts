import { z } from "zod";
import { writeJson } from "@/server/base/json/json";
import { replaceNul } from "@/server/guard/secrets/stored-output";
import type { StreamedReply } from "@/server/work/models/calls/model-interface";
import {
  brokenPieces,
  ReplyError,
  readReportedError,
  replyTooLarge,
} from "@/server/work/models/errors/replies";
import {
  MAX_RECORDED_CALLS,
  MAX_REPLY_LENGTH,
  type Prompt,
  type ReceivedOutput,
} from "@/server/work/models/port";
import { countUsage } from "@/server/work/models/tokens/tokens";
import { readResponseUsage, readTexts } from "./response";

/**
 * OpenAI's API reference, streaming events of responses. The last event has the whole response, but some servers
 * leave its items out.
 */

const event = z.looseObject({ type: z.string() });
const itemEvent = z.object({ output_index: z.int().min(0), item: z.looseObject({ type: z.string() }) });
const deltaEvent = z.object({
  output_index: z.int().min(0),
  content_index: z.int().min(0).max(1_000).optional(),
  summary_index: z.int().min(0).max(1_000).optional(),
  delta: z.string(),
});
// Has the whole part: some servers send no deltas (BerriAI/litellm#27792).
const wholeEvent = z.object({
  output_index: z.int().min(0),
  content_index: z.int().min(0).max(1_000).optional(),
  arguments: z.string().optional(),
  text: z.string().optional(),
});
const endEvent = z.object({ response: z.looseObject({ output: z.array(z.unknown()).optional() }) });

// Counted for an item besides its texts: eight thousand items are possible.
const ITEM_LENGTH = 1_024;
// A piece may begin the thousandth part of its item.
const PART_LENGTH = 64;
const FURTHER_LENGTH = 64;

type Item = Record<string, unknown> & { type: string };

type ItemInParts = {
  item: Item;
  isWhole: boolean;
  length: number;
  texts: string[];
  summary: string[];
  refusal: string;
  arguments: string;
};

export class StreamedResponse implements StreamedReply {
  readonly #onText: (text: string) => void;
  readonly #items = new Map<number, ItemInParts>();
  readonly #further = new Set<number>();
  #calls = 0;
  #length = 0;
  #shown = "";
  #shownIndex: number | undefined;
  #end: Record<string, unknown> | undefined;

  constructor(onText: (text: string) => void) {
    this.#onText = onText;
  }

  get furtherCalls(): number {
    return this.#further.size;
  }

  add(piece: unknown): void {
    const parsed = event.safeParse(piece);
    if (!parsed.success) throw brokenPieces("a chunk of the answer is not an event of a response");
    switch (parsed.data.type) {
      case "response.output_item.added":
      case "response.output_item.done":
        this.#addItem(read(itemEvent, piece), parsed.data.type === "response.output_item.done");
        break;
      case "response.output_text.delta":
      case "response.refusal.delta":
      case "response.function_call_arguments.delta":
      case "response.reasoning_summary_text.delta":
      case "response.reasoning_text.delta":
        this.#addDelta(read(deltaEvent, piece), parsed.data.type);
        break;
      case "response.output_text.done":
      case "response.function_call_arguments.done":
        this.#addWhole(read(wholeEvent, piece), parsed.data.type);
        break;
      case "response.failed": {
        const { response } = read(endEvent, piece);
        this.#end = response;
        throw readReportedError(response) ?? new ReplyError("a response that failed");
      }
      case "response.completed":
      case "response.incomplete":
        this.#end = read(endEvent, piece).response;
    }
  }

  async received(request: Prompt): Promise<ReceivedOutput | null> {
    if (this.#items.size === 0) return null;
    const items = this.#inOrder().map(toItem);
    const { content, refusal, reasoning } = readTexts(items);
    const toolCalls = items
      .filter(({ type }) => type === "function_call")
      .map((item) => ({ id: "", name: String(item.name), arguments: String(item.arguments) }));
    const output = { content: content || refusal, reasoning, toolCalls };
    const usage = readResponseUsage(this.#end?.usage) ?? (await countUsage(request, output));
    return { content: replaceNul(output.content), usage };
  }

  toBody(): object {
    if (this.#end === undefined) throw brokenPieces("the answer ended before it was complete");
    return this.#items.size === 0 ? this.#end : { ...this.#end, output: this.#inOrder().map(toItem) };
  }

  #inOrder(): ItemInParts[] {
    return [...this.#items].sort(([a], [b]) => a - b).map(([, item]) => item);
  }

  #addItem({ output_index: index, item }: z.infer<typeof itemEvent>, isWhole: boolean): void {
    const known = this.#begin(index, item.type);
    if (known === undefined) return;
    known.item = item;
    known.isWhole = isWhole;
    // The texts of its deltas count once.
    const { length } = writeJson(item);
    this.#count(Math.max(0, length - known.length));
    known.length = Math.max(length, known.length);
  }

  #addDelta({ output_index: index, delta, ...at }: z.infer<typeof deltaEvent>, type: string): void {
    const known = this.#begin(index, TYPE_OF_DELTA[type] ?? "message");
    if (known === undefined) return;
    this.#count(delta.length);
    known.length += delta.length;
    if (type === "response.refusal.delta") known.refusal += delta;
    else if (type === "response.function_call_arguments.delta") known.arguments += delta;
    else if (type === "response.reasoning_summary_text.delta")
      this.#append(known.summary, at.summary_index, delta);
    else this.#append(known.texts, at.content_index, delta);
    if (type === "response.output_text.delta") this.#show(index, known, delta);
  }

  #append(texts: string[], index = 0, delta: string): void {
    this.#count(PART_LENGTH * Math.max(0, index - texts.length));
    while (texts.length <= index) texts.push("");
    texts[index] += delta;
  }

  #addWhole({ arguments: given, text, ...at }: z.infer<typeof wholeEvent>, type: string): void {
    const known = this.#items.get(at.output_index);
    const isCall = type === "response.function_call_arguments.done";
    const delta = isCall ? given : text;
    const had = isCall ? known?.arguments : known?.texts[at.content_index ?? 0];
    if (!delta || had) return;
    this.#addDelta({ ...at, delta }, type.replace(/done$/, "delta"));
  }

  #show(index: number, { item }: ItemInParts, delta: string): void {
    if (this.#shownIndex !== index) {
      if (item.phase === "final_answer") this.#shown = "";
      else if (this.#shown !== "") this.#shown += "\n\n";
      this.#shownIndex = index;
    }
    this.#shown += delta;
    if (this.#shown !== "") this.#onText(this.#shown);
  }

  #begin(index: number, type: string): ItemInParts | undefined {
    const known = this.#items.get(index);
    if (known !== undefined || this.#further.has(index)) return known;
    if (type === "function_call") this.#calls += 1;
    if (type === "function_call" && this.#calls > MAX_RECORDED_CALLS) {
      this.#count(FURTHER_LENGTH);
      this.#further.add(index);
      return undefined;
    }
    const item = {
      item: { type },
      isWhole: false,
      length: 0,
      texts: [],
      summary: [],
      refusal: "",
      arguments: "",
    };
    this.#count(ITEM_LENGTH);
    this.#items.set(index, item);
    return item;
  }

  #count(length: number): void {
    this.#length += length;
    if (this.#length > MAX_REPLY_LENGTH) throw replyTooLarge("The answer", MAX_REPLY_LENGTH);
  }
}

const TYPE_OF_DELTA: Record<string, string> = {
  "response.function_call_arguments.delta": "function_call",
  "response.reasoning_summary_text.delta": "reasoning",
  "response.reasoning_text.delta": "reasoning",
};

function read<Schema extends z.ZodType>(schema: Schema, piece: unknown): z.output<Schema> {
  const parsed = schema.safeParse(piece);
  if (!parsed.success) throw brokenPieces("a chunk of the answer is not an event of a response");
  return parsed.data;
}

function toItem({ item, isWhole, texts, summary, refusal, arguments: text }: ItemInParts): Item {
  if (isWhole) return item;
  if (item.type === "function_call") return { ...item, arguments: text };
  const content = texts.map((each) => ({ type: "output_text", text: each }));
  if (item.type === "reasoning")
    return { ...item, summary: summary.map((each) => ({ type: "summary_text", text: each })), content };
  return { ...item, content: refusal === "" ? content : [...content, { type: "refusal", refusal }] };
}
