import { LRUCache } from "lru-cache";
import { writeJson } from "@/server/base/json/json";
import { perOwner } from "@/server/base/per-owner";
import { takeTurn } from "@/server/base/scheduling/event-loop";
import { describeSchema } from "@/server/work/models/json-answer";
import {
  type ModelMessage,
  type OfferedTool,
  type Prompt,
  sentTools,
  type ToolCall,
} from "@/server/work/models/port";
import { type BytePairCounter, createBytePairCounter } from "./byte-pairs";
import { readStateTexts } from "./state-texts";

/**
 * o200k is the vocabulary of OpenAI's models since 2024; counts are estimates for other providers
 * (docs/decisions/0012).
 */

let counter: Promise<BytePairCounter> | undefined;

/** Never loaded if every provider reports its usage. */
function loadCounter(): Promise<BytePairCounter> {
  counter ??= import("js-tiktoken/ranks/o200k_base").then(
    ({ default: { pat_str: pattern, bpe_ranks: ranks } }) => createBytePairCounter({ pattern, ranks }),
  );
  return counter;
}

// In UTF-16 units; takes a few milliseconds.
const PART_LENGTH = 16 * 1024;

const recent = new LRUCache<string, number>({ max: 500 });
const MAX_RECENT_LENGTH = 8 * 1024;

/** Long texts are counted in parts, each cut before a blank if possible. */
async function countTextTokens(text: string): Promise<number> {
  if (text === "") return 0;
  const known = recent.get(text);
  if (known !== undefined) return known;
  const tokens = await countInParts(text);
  if (text.length <= MAX_RECENT_LENGTH) recent.set(text, tokens);
  return tokens;
}

async function countInParts(text: string): Promise<number> {
  const count = await loadCounter();
  let tokens = 0;
  for (let from = 0; from < text.length; ) {
    if (from > 0) await takeTurn();
    let part = text.slice(from, from + PART_LENGTH);
    const blank = from + PART_LENGTH < text.length ? part.lastIndexOf(" ") : -1;
    if (blank > 0) part = part.slice(0, blank);
    tokens += count(part);
    from += part.length;
  }
  return tokens;
}

// The overhead of chat formats around a message or a call, and before the reply.
const MESSAGE_OVERHEAD = 4;
const REQUEST_OVERHEAD = 3;

async function countTexts(texts: readonly string[]): Promise<number> {
  let tokens = MESSAGE_OVERHEAD;
  for (const text of texts) tokens += await countTextTokens(text);
  return tokens;
}

const textsOfCalls = (calls: readonly ToolCall[]) => calls.flatMap((call) => [call.name, call.arguments]);

// Encrypted reasoning is billed as the tokens that it hides: four characters are three bytes, about a token.
const OPAQUE_PER_TOKEN = 4;

export const countMessageTokens = perOwner(async (message: ModelMessage) => {
  if (message.role !== "assistant") return countTexts([message.content]);
  const { texts, opaque } = readStateTexts(message);
  const counted = await countTexts([message.content, ...texts, ...textsOfCalls(message.toolCalls)]);
  return counted + Math.ceil(opaque / OPAQUE_PER_TOKEN);
});
const countTool = perOwner(({ name, description, parameters }: OfferedTool) =>
  countTexts([name, description, writeJson(parameters)]),
);

export async function countRequestTokens(request: Prompt): Promise<number> {
  let tokens = REQUEST_OVERHEAD;
  for (const message of request.messages) tokens += await countMessageTokens(message);
  for (const tool of sentTools(request)) tokens += await countTool(tool);
  if (request.responseSchema) tokens += await countTextTokens(describeSchema(request.responseSchema));
  return tokens;
}

// Longer output is extrapolated from its start: counting megabytes takes seconds.
const SAMPLE = 128 * 1024;

async function estimateTextTokens(text: string): Promise<number> {
  if (text.length <= SAMPLE) return countTextTokens(text);
  return Math.ceil((await countTextTokens(text.slice(0, SAMPLE))) * (text.length / SAMPLE));
}

/** The usage of a call whose provider reports none, counted here and marked as estimated. */
export async function countUsage(
  request: Prompt,
  reply: { content: string; reasoning: string; toolCalls: readonly ToolCall[] },
): Promise<{ inputTokens: number; outputTokens: number; estimated: true }> {
  let outputTokens = 1 + MESSAGE_OVERHEAD * reply.toolCalls.length;
  for (const text of [reply.content, reply.reasoning, ...textsOfCalls(reply.toolCalls)])
    outputTokens += await estimateTextTokens(text);
  return { inputTokens: await countRequestTokens(request), outputTokens, estimated: true };
}
