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
 * leave its items out. Others give all items one index (agentgateway/agentgateway#1455,
 * openai/openai-agents-python#3176).
 */

const event = z.looseObject({ type: z.string() });
const itemEvent = z.object({ output_index: z.int().min(0), item: z.looseObject({ type: z.string() }) });
const deltaEvent = z.object({
  output_index: z.int().min(0),
  item_id: z.string().optional().catch(undefined),
  content_index: z.int().min(0).max(1_000).optional(),
  summary_index: z.int().min(0).max(1_000).optional(),
  delta: z.string(),
});
// Has the whole part: some servers send no deltas (BerriAI/litellm#27792).
const wholeEvent = z.object({
  output_index: z.int().min(0),
  item_id: z.string().optional().catch(undefined),
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

/** `ids`: a call's own id, and the item's. */
type Place = { index: number; type: string; ids: readonly string[] };

type ItemInParts = {
  index: number;
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
  readonly #items: ItemInParts[] = [];
  /** Items by index, type and id; the last one also without id. Null: a call that is only counted. */
  readonly #places = new Map<string, ItemInParts | null>();
  #further = 0;
  #calls = 0;
  #length = 0;
  #shown = "";
  #shownItem: ItemInParts | undefined;
  #end: Record<string, unknown> | undefined;

  constructor(onText: (text: string) => void) {
    this.#onText = onText;
  }

  get furtherCalls(): number {
    return this.#isEndComplete() ? 0 : this.#further;
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
    const reported = readResponseUsage(this.#end?.usage);
    if (this.#items.length === 0 && reported === null) return null;
    const items = this.#inOrder().map(toItem);
    const { content, refusal, reasoning } = readTexts(items);
    const toolCalls = items
      .filter(({ type }) => type === "function_call")
      .map((item) => ({ id: "", name: String(item.name), arguments: String(item.arguments) }));
    const output = { content: content || refusal, reasoning, toolCalls };
    const usage = reported ?? (await countUsage(request, output));
    return { content: replaceNul(output.content), usage };
  }

  toBody(): object {
    if (this.#end === undefined) throw brokenPieces("the answer ended before it was complete");
    const isCollected = this.#items.length > 0 && !this.#isEndComplete();
    return isCollected ? { ...this.#end, output: this.#inOrder().map(toItem) } : this.#end;
  }

  // The end has items that did not come before it.
  #isEndComplete(): boolean {
    const output = this.#end?.output;
    return Array.isArray(output) && output.length > this.#items.length + this.#further;
  }

  #inOrder(): ItemInParts[] {
    return this.#items.toSorted((a, b) => a.index - b.index);
  }

  #addItem({ output_index: index, item }: z.infer<typeof itemEvent>, isWhole: boolean): void {
    const place = { index, type: item.type, ids: idsOf(item) };
    const known = this.#isAnother(item, place, isWhole) ? this.#beginItem(place) : this.#begin(place);
    if (known === null) return;
    known.item = item;
    known.isWhole = isWhole;
    // The texts of its deltas count once.
    const { length } = writeJson(item);
    this.#count(Math.max(0, length - known.length));
    known.length = Math.max(length, known.length);
  }

  // Some servers give an item another id at its end than at its beginning.
  #isAnother(item: Item, place: Place, isWhole: boolean): boolean {
    const known = this.#find(place);
    if (known === undefined) return false;
    if (known === null) return !isWhole;
    const differs = (name: "id" | "call_id") =>
      typeof item[name] === "string" &&
      typeof known.item[name] === "string" &&
      item[name] !== known.item[name];
    return (differs("id") || differs("call_id")) && (!isWhole || known.isWhole);
  }

  #addDelta(
    { output_index: index, item_id: id, delta, ...at }: z.infer<typeof deltaEvent>,
    type: string,
  ): void {
    const known = this.#begin({ index, type: TYPE_OF_DELTA[type] ?? "message", ids: id ? [id] : [] });
    if (known === null) return;
    this.#count(delta.length);
    known.length += delta.length;
    if (type === "response.refusal.delta") known.refusal += delta;
    else if (type === "response.function_call_arguments.delta") known.arguments += delta;
    else if (type === "response.reasoning_summary_text.delta")
      this.#append(known.summary, at.summary_index, delta);
    else this.#append(known.texts, at.content_index, delta);
    if (type === "response.output_text.delta") this.#show(known, delta);
  }

  #append(texts: string[], index = 0, delta: string): void {
    this.#count(PART_LENGTH * Math.max(0, index - texts.length));
    while (texts.length <= index) texts.push("");
    texts[index] += delta;
  }

  #addWhole({ arguments: given, text, ...at }: z.infer<typeof wholeEvent>, type: string): void {
    const isCall = type === "response.function_call_arguments.done";
    const { output_index: index, item_id: id } = at;
    const known = this.#find({ index, type: isCall ? "function_call" : "message", ids: id ? [id] : [] });
    const delta = isCall ? given : text;
    const had = isCall ? known?.arguments : known?.texts[at.content_index ?? 0];
    if (!delta || had) return;
    this.#addDelta({ ...at, delta }, type.replace(/done$/, "delta"));
  }

  #show(shown: ItemInParts, delta: string): void {
    if (this.#shownItem !== shown) {
      if (shown.item.phase === "final_answer") this.#shown = "";
      else if (this.#shown !== "") this.#shown += "\n\n";
      this.#shownItem = shown;
    }
    this.#shown += delta;
    if (this.#shown !== "") this.#onText(this.#shown);
  }

  #find(place: Place): ItemInParts | null | undefined {
    for (const id of [...place.ids, ""]) {
      const known = this.#places.get(keyOf(place, id));
      if (known !== undefined) return known;
    }
    return undefined;
  }

  #begin(place: Place): ItemInParts | null {
    const known = this.#find(place);
    return known === undefined ? this.#beginItem(place) : known;
  }

  #beginItem(place: Place): ItemInParts | null {
    const { index, type, ids } = place;
    if (type === "function_call") this.#calls += 1;
    const isFurther = type === "function_call" && this.#calls > MAX_RECORDED_CALLS;
    this.#count((isFurther ? FURTHER_LENGTH : ITEM_LENGTH) + ids.join().length);
    const item = isFurther ? null : newItem(index, type);
    if (item === null) this.#further += 1;
    else this.#items.push(item);
    for (const id of [...ids, ""]) this.#places.set(keyOf(place, id), item);
    return item;
  }

  #count(length: number): void {
    this.#length += length;
    if (this.#length > MAX_REPLY_LENGTH) throw replyTooLarge("The answer", MAX_REPLY_LENGTH);
  }
}

const keyOf = ({ index, type }: Place, id: string) => `${index} ${type} ${id}`;

const idsOf = ({ id, call_id: callId }: Item): string[] =>
  [callId, id].filter((each) => typeof each === "string");

const newItem = (index: number, type: string): ItemInParts => ({
  index,
  item: { type },
  isWhole: false,
  length: 0,
  texts: [],
  summary: [],
  refusal: "",
  arguments: "",
});

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
