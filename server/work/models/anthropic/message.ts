import { z } from "zod";
import { isJsonObject, memberOf, tryParseJson, writeJson } from "@/server/base/json/json";
import { replaceNul } from "@/server/guard/secrets/stored-output";
import type { ReadOptions } from "@/server/work/models/calls/model-interface";
import { type GivenCall, MAX_NAME_LENGTH, readCalls } from "@/server/work/models/calls/read-calls";
import { anyTokensOf, reportedUsage, tokensOf, usageText } from "@/server/work/models/calls/reported-usage";
import { type ReadReply, unreadable } from "@/server/work/models/errors/replies";
import { type Block, readMessageState } from "@/server/work/models/message-state";
import { MAX_RECORDED_CALLS, type ModelRequest, type ModelUsage } from "@/server/work/models/port";
import { answerToolOf } from "./answer-tool";

const MAX_BLOCKS = 20_000;

const message = z.object({
  content: z.array(z.looseObject({ type: z.string() })).max(MAX_BLOCKS),
  stop_reason: z.string().nullish(),
  stop_details: z.object({ explanation: z.string().nullish() }).nullish().catch(null),
  usage: z.unknown().optional(),
});
const text = z.object({ type: z.literal("text"), text: z.string() });
const thinking = z.object({ type: z.literal("thinking"), thinking: z.string() });
const toolUse = z.object({
  type: z.literal("tool_use"),
  id: z.string().nullish().catch(null),
  name: z.string().min(1),
  /** A text if it was streamed. */
  input: z.unknown().optional(),
});

/** The tokens that a provider reports; those read from the cache or written to it are input. Null if it reports none. */
export function readMessageUsage(raw: unknown): ModelUsage | null {
  const fresh = tokensOf(raw, "input_tokens");
  const output = tokensOf(raw, "output_tokens");
  if (fresh === null || output === null) return null;
  const cached = tokensOf(raw, "cache_read_input_tokens") ?? 0;
  const written = tokensOf(raw, "cache_creation_input_tokens") ?? 0;
  const reasoning = anyTokensOf(memberOf(raw, "output_tokens_details"), ["thinking_tokens"]);
  return reportedUsage({ input: fresh + cached + written, output, cached, written, reasoning });
}

/** Parses a message's untrusted body. Throws ReplyError. */
export function readMessage(
  body: unknown,
  request: Pick<ModelRequest, "messages" | "tools" | "withheldTools" | "responseSchema">,
  { furtherCalls = 0, origin, redact = (value) => value }: ReadOptions,
): ReadReply {
  const parsed = message.safeParse(body);
  if (!parsed.success) throw unreadable(body, "a message");
  const { content: blocks, stop_reason: reason, stop_details: details } = parsed.data;
  const answer = answerToolOf(request);
  const isAnswer = (block: Block) => block.type === "tool_use" && block.name === answer?.name;
  const uses = blocks.filter((block) => block.type === "tool_use" && !isAnswer(block));
  const further = new Set(uses.slice(MAX_RECORDED_CALLS));
  // Beside other calls, an answer is too early.
  const given = uses.length === 0 ? blocks.find(isAnswer) : undefined;
  const isCut = reason === "max_tokens";
  const end = given !== undefined && reason === "tool_use" ? "end_turn" : reason;
  const content = given === undefined ? textOf(blocks) : inputText(given.input);
  const calls = uses
    .slice(0, MAX_RECORDED_CALLS)
    .map((block) => toGivenCall(block, isCut && block === blocks.at(-1)));
  return {
    content: replaceNul(content),
    refusal: reason === "refusal" ? (details?.explanation ?? "") : "",
    reasoning: thinkingOf(blocks),
    toolCalls: readCalls(calls, request, { furtherCalls: furtherCalls + further.size, redact }),
    finishReason: end ? redact(end).slice(0, MAX_NAME_LENGTH) : null,
    state: readMessageState(
      blocks
        .filter((block) => !further.has(block) && (!isAnswer(block) || block === given))
        .map((block) => (block === given ? { type: "text", text: content } : withObject(block))),
      origin,
    ),
    usage: readMessageUsage(parsed.data.usage),
    usageText: usageText(parsed.data.usage),
  };
}

/** The text of blocks; those that something else separates are paragraphs. */
export function textOf(blocks: readonly Block[]): string {
  let joined = "";
  for (const [index, block] of blocks.entries()) {
    const part = text.safeParse(block).data?.text ?? "";
    if (part === "") continue;
    const isApart = joined !== "" && blocks[index - 1]?.type !== "text";
    joined += isApart ? `\n\n${part}` : part;
  }
  return joined;
}

export const thinkingOf = (blocks: readonly Block[]): string =>
  blocks
    .flatMap((block) => thinking.safeParse(block).data?.thinking ?? [])
    .filter((part) => part !== "")
    .join("\n\n");

export const inputText = (input: unknown): string =>
  typeof input === "string" ? input : writeJson(input ?? {});

/** @param isCut The answer ended within it: a whole body has only the complete part. */
function toGivenCall(block: Block, isCut: boolean): GivenCall {
  const parsed = toolUse.safeParse(block);
  if (!parsed.success) return { problem: "it has no name", entry: block };
  const { id, name, input } = parsed.data;
  if (isCut && typeof input !== "string") return { id, name, arguments: "" };
  // A call without parameters has no input when it is streamed.
  return { id, name, arguments: input === "" ? {} : input };
}

function withObject(block: Block): Block {
  if (block.type !== "tool_use" || typeof block.input !== "string") return block;
  const input = tryParseJson(block.input);
  return { ...block, input: isJsonObject(input) ? input : {} };
}
