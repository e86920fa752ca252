import { isDeepStrictEqual } from "node:util";
import { type ChatFamily, calculation, cut, opaque } from "./strict-chat";

/**
 * OpenRouter's `reasoning_details` of an Anthropic and an OpenAI model. The sequence of blocks must come back
 * unchanged: https://openrouter.ai/docs/guides/best-practices/reasoning-tokens. Streamed pieces have one type and
 * index, the signature last; unjoined pieces are rejected: langchain-ai/langchain#36400.
 */
export const openrouter: ChatFamily = {
  name: "openrouter",
  reply(turn) {
    const reasoning = `I have to add. Step ${turn} 🌍`;
    const anthropic = [
      {
        type: "reasoning.text",
        text: reasoning,
        signature: opaque(),
        format: "anthropic-claude-v1",
        index: 0,
      },
    ];
    const openai = [
      { type: "reasoning.summary", summary: reasoning, format: "openai-responses-v1", index: 0 },
      {
        type: "reasoning.encrypted",
        data: opaque(2_000),
        id: "rs_1",
        format: "openai-responses-v1",
        index: 0,
      },
    ];
    return {
      content: "",
      reasoning,
      reasoning_details: turn === 0 ? anthropic : openai,
      tool_calls: [calculation(turn)],
    };
  },
  pieces({ content, reasoning, reasoning_details, tool_calls }) {
    const blocks: unknown[] = Array.isArray(reasoning_details) ? reasoning_details : [];
    return [
      { role: "assistant", content },
      ...blocks.flatMap(cutBlock).map((block) => ({ content: "", reasoning_details: [block] })),
      ...(typeof reasoning === "string" ? cut(reasoning) : []).map((text) => ({
        content: "",
        reasoning: text,
      })),
      ...(tool_calls ?? []).map((call, index) => ({ content: null, tool_calls: [{ index, ...call }] })),
    ];
  },
  check: (sent, back) =>
    isDeepStrictEqual(back.reasoning_details, sent.reasoning_details)
      ? null
      : "Provider returned error: the reasoning blocks were modified.",
  checkForeign: () => null,
  errorBody: (message) => ({ error: { message, code: 400 } }),
};

function cutBlock(block: unknown): object[] {
  if (typeof block !== "object" || block === null) return [];
  const { text, summary, signature, ...frame }: Record<string, unknown> = { ...block };
  const parts = (name: string, value: unknown) =>
    typeof value === "string" ? cut(value).map((part) => ({ ...frame, [name]: part })) : [];
  const pieces = [...parts("text", text), ...parts("summary", summary)];
  if (pieces.length === 0) return [block];
  return signature === undefined ? pieces : [...pieces, { ...frame, signature }];
}
