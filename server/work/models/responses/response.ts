import { z } from "zod";
import { memberOf } from "@/server/base/json/json";
import { replaceNul } from "@/server/guard/secrets/stored-output";
import type { ReadOptions } from "@/server/work/models/calls/model-interface";
import { type GivenCall, MAX_NAME_LENGTH, readCalls } from "@/server/work/models/calls/read-calls";
import { anyTokensOf, reportedUsage, tokensOf, usageText } from "@/server/work/models/calls/reported-usage";
import {
  type ReadReply,
  ReplyError,
  readReportedError,
  unreadable,
} from "@/server/work/models/errors/replies";
import { MAX_RECORDED_CALLS, type ModelRequest, type ModelUsage } from "@/server/work/models/port";
import { readResponseState } from "./response-state";

const MAX_ITEMS = 20_000;
const MAX_PARTS = 1_000;

const parts = z.array(z.unknown()).catch([]);
const message = z.looseObject({
  type: z.literal("message"),
  /** `commentary` is beside calls, `final_answer` is the answer. */
  phase: z.string().nullish().catch(null),
  content: parts,
});
const reasoning = z.looseObject({ type: z.literal("reasoning"), summary: parts, content: parts });
const call = z.looseObject({
  type: z.literal("function_call"),
  call_id: z.string().nullish().catch(null),
  name: z.string().min(1),
  arguments: z.unknown().optional(),
});
const response = z.object({
  status: z.string().nullish(),
  output: z.array(z.unknown()).max(MAX_ITEMS),
  incomplete_details: z.object({ reason: z.string().nullish() }).nullish().catch(null),
  usage: z.unknown().optional(),
});

/** The tokens that a provider reports, cached and reasoning ones included; null if it reports none. */
export function readResponseUsage(raw: unknown): ModelUsage | null {
  const input = tokensOf(raw, "input_tokens");
  const output = tokensOf(raw, "output_tokens");
  if (input === null || output === null) return null;
  const details = memberOf(raw, "input_tokens_details");
  const cached = anyTokensOf(details, ["cached_tokens"]);
  const written = anyTokensOf(details, ["cache_write_tokens"]);
  const reasoning = anyTokensOf(memberOf(raw, "output_tokens_details"), ["reasoning_tokens"]);
  return reportedUsage({ input, output, cached, written, reasoning });
}

/** Parses a response's untrusted body. Throws ReplyError. */
export function readResponse(
  body: unknown,
  request: Pick<ModelRequest, "messages">,
  { furtherCalls = 0, origin, redact = (text) => text }: ReadOptions,
): ReadReply {
  const parsed = response.safeParse(body);
  if (!parsed.success) throw unreadable(body, "a response");
  const { output, status, incomplete_details: incomplete } = parsed.data;
  if (status === "failed" || status === "cancelled")
    throw readReportedError(body) ?? new ReplyError(`a response that ${status}`);
  const texts = readTexts(output);
  const calls = output.filter(isCall);
  const further = new Set(calls.slice(MAX_RECORDED_CALLS));
  const reason = incomplete?.reason ?? status;
  return {
    content: replaceNul(texts.content),
    refusal: texts.refusal,
    reasoning: texts.reasoning,
    toolCalls: readCalls(calls.slice(0, MAX_RECORDED_CALLS).map(toGivenCall), request, {
      furtherCalls: furtherCalls + further.size,
      redact,
    }),
    finishReason: reason ? redact(reason).slice(0, MAX_NAME_LENGTH) : null,
    // The summary of further calls has a result, which they have not.
    state: readResponseState(
      output.filter((item) => !further.has(item)),
      origin,
    ),
    usage: readResponseUsage(parsed.data.usage),
    usageText: usageText(parsed.data.usage),
  };
}

const isOf = (type: string) => (item: unknown) =>
  typeof item === "object" && item !== null && "type" in item && item.type === type;
const isCall = isOf("function_call");

function toGivenCall(item: unknown): GivenCall {
  const parsed = call.safeParse(item);
  if (!parsed.success) return { problem: "it has no name", entry: item };
  return { id: parsed.data.call_id, name: parsed.data.name, arguments: parsed.data.arguments };
}

/** The texts of items: without an answer that is marked as final, all messages are the answer. */
export function readTexts(items: readonly unknown[]): {
  content: string;
  refusal: string;
  reasoning: string;
} {
  const messages = items.filter(isOf("message")).flatMap((item) => message.safeParse(item).data ?? []);
  const final = messages.filter(({ phase }) => phase === "final_answer");
  const textsOf = (list: readonly unknown[], field: "text" | "refusal") =>
    list.slice(0, MAX_PARTS).map((part) => memberText(part, field));
  const join = (texts: readonly string[]) => texts.filter((text) => text !== "").join("\n\n");
  const thoughts = items.filter(isOf("reasoning")).flatMap((item) => reasoning.safeParse(item).data ?? []);
  return {
    content: join(
      (final.length > 0 ? final : messages).map(({ content }) => textsOf(content, "text").join("")),
    ),
    refusal: join(messages.map(({ content }) => textsOf(content, "refusal").join(""))),
    reasoning: join(
      thoughts.flatMap(({ summary, content }) => [...textsOf(summary, "text"), ...textsOf(content, "text")]),
    ),
  };
}

const withText = z.looseObject({ text: z.string().catch(""), refusal: z.string().catch("") });
const memberText = (part: unknown, field: "text" | "refusal") => withText.safeParse(part).data?.[field] ?? "";
