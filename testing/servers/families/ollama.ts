import {
  type ChatServerFamily,
  callsOf,
  chunk,
  completion,
  cut,
  finishOf,
  letters,
  USAGE,
  usageChunk,
} from "./chat-server";

/**
 * After openai/openai.go of ollama/ollama: unknown parameters are ignored, also `max_completion_tokens`, so that
 * without `max_tokens` a reply may be too long. Reasoning is `reasoning` both ways. Streamed calls are complete,
 * all with the index 0 (BerriAI/litellm#33678).
 */

const EFFORTS = ["high", "medium", "low", "none"];
const reject = (message: string) => ({
  status: 400,
  body: { error: { message, type: "invalid_request_error", param: null, code: null } },
});

export const ollama: ChatServerFamily = {
  name: "ollama",
  callId: () => `call_${letters(8)}`,
  reject,
  check(body) {
    for (const { role, content, tool_calls } of body.messages) {
      if (typeof content !== "string" && tool_calls === undefined)
        return reject("invalid message content type: <nil>");
      if (role === "tool" && content === undefined) return reject("invalid message format");
    }
    const { reasoning_effort: effort } = body;
    return effort === undefined || EFFORTS.includes(String(effort))
      ? null
      : reject(`invalid reasoning value: '${effort}' (must be "high", "medium", "low", or "none")`);
  },
  whole: (reply, body) =>
    completion(
      {
        content: reply.text,
        reasoning: reply.reasoning,
        ...(reply.calls.length > 0 && { tool_calls: callsOf(reply).map((call) => ({ index: 0, ...call })) }),
      },
      { finish: finishOf(reply), usage: usageOf(body), system_fingerprint: "fp_ollama" },
    ),
  events: (reply, body) => [
    ...cut(reply.reasoning).map((text) => chunk({ role: "assistant", content: "", reasoning: text })),
    ...(reply.text === "" ? [] : cut(reply.text).map((text) => chunk({ role: "assistant", content: text }))),
    ...callsOf(reply).map((call) =>
      chunk({ role: "assistant", content: "", tool_calls: [{ index: 0, ...call }] }),
    ),
    chunk({ role: "assistant", content: "" }, finishOf(reply)),
    ...usageChunk(body, usageOf(body)),
  ],
};

/** Without `max_tokens` nothing limits a reply. */
function usageOf({ max_tokens }: { max_tokens?: number | undefined }): object {
  const completion_tokens = max_tokens === undefined ? 50_000 : USAGE.completion_tokens;
  return { ...USAGE, completion_tokens, total_tokens: USAGE.prompt_tokens + completion_tokens };
}
