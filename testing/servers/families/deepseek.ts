import { type ChatFamily, calculation, cut, opaque } from "./strict-chat";

const MISSING = "The `reasoning_content` in the thinking mode must be passed back to the API.";

/**
 * DeepSeek's thinking mode: messages with calls must return `reasoning_content`, also an empty one; those of other
 * models need one that is not empty (NousResearch/hermes-agent#17341).
 * https://api-docs.deepseek.com/guides/thinking_mode and deepseek-ai/deepseek-harness#739.
 */
export const deepseek: ChatFamily = {
  name: "deepseek",
  reply: (turn) => ({
    content: "",
    reasoning_content: turn === 0 ? `Ich rechne “1 + 1” — 計算 🌍 \u0000\n${opaque(90)}` : "",
    tool_calls: [calculation(turn)],
  }),
  pieces({ content, reasoning_content, tool_calls }) {
    const reasoning = typeof reasoning_content === "string" ? cut(reasoning_content) : [];
    return [
      ...reasoning.map((text) => ({ role: "assistant", content: null, reasoning_content: text })),
      { content, reasoning_content: null },
      ...(tool_calls ?? []).flatMap(({ function: { name, arguments: text }, ...call }, index) => [
        { tool_calls: [{ index, ...call, function: { name, arguments: "" } }] },
        ...cut(text).map((part) => ({ tool_calls: [{ index, function: { arguments: part } }] })),
      ]),
    ];
  },
  check: (sent, back) => (back.reasoning_content === sent.reasoning_content ? null : MISSING),
  checkForeign: (back) => (back.reasoning_content ? null : MISSING),
  errorBody: (message) => ({ error: { message, type: "invalid_request_error", param: null } }),
};
