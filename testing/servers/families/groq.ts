import {
  type ChatServerFamily,
  callPieces,
  callsOf,
  chunk,
  completion,
  cut,
  findUnknown,
  finishOf,
  letters,
  USAGE,
  usageChunk,
} from "./chat-server";

/**
 * Parameters: https://console.groq.com/docs/api-reference#chat-create; others and unknown message fields are
 * "unsupported" (janhq/jan#8136). JSON and tools exclude each other (agno-agi/agno#1065). The first call of a
 * conversation fails like a malformed one, with any words in `failed_generation` (vercel/ai#6916). Usage is also in
 * `x_groq` of the last chunk.
 */

const KNOWN =
  "model messages temperature top_p max_tokens max_completion_tokens stream stream_options stop seed response_format tools " +
  "tool_choice presence_penalty frequency_penalty n parallel_tool_calls reasoning_effort reasoning_format include_reasoning " +
  "service_tier user metadata";
const MESSAGE_FIELDS = new Set(["role", "content", "tool_calls", "tool_call_id", "name"]);
const EFFORTS = ["low", "medium", "high"];

const reject = (message: string, more: object = {}) => ({
  status: 400,
  body: { error: { message, type: "invalid_request_error", ...more } },
});
const times = { queue_time: 0.05, prompt_time: 0.01, completion_time: 0.2, total_time: 0.21 };
const usage = {
  ...USAGE,
  ...times,
  prompt_tokens_details: { cached_tokens: 60 },
  completion_tokens_details: { reasoning_tokens: 30 },
};

/** A new one for each server: it has failed once. */
export function createGroq(): ChatServerFamily {
  let hasFailed = false;
  return {
    name: "groq",
    callId: () => `fc_${letters(16)}`,
    reject,
    check(body, turn) {
      const unknown = findUnknown(body, KNOWN);
      if (unknown !== undefined) return reject(`property '${unknown}' is unsupported`);
      for (const [index, { role, ...message }] of body.messages.entries()) {
        const field = Object.keys(message).find((name) => !MESSAGE_FIELDS.has(name));
        if (field === undefined) continue;
        const at = `'messages.${index}'`;
        return reject(
          `${at} : for 'role:${role}' the following must be satisfied[(${at} : property '${field}' is unsupported)]`,
        );
      }
      const { reasoning_effort: effort } = body;
      if (effort !== undefined && !EFFORTS.includes(String(effort)))
        return reject(`reasoning_effort must be one of ${EFFORTS.map((each) => `\`${each}\``).join(", ")}`);
      if (body.response_format !== undefined && body.tools !== undefined)
        return reject("json mode cannot be combined with tool/function calling");
      if (body.tools === undefined || turn > 0 || hasFailed) return null;
      hasFailed = true;
      const failed_generation =
        '<function=calculate{"expression": "temperature, response_format"}</function>';
      const message =
        "Failed to call a function. Please adjust your prompt. See 'failed_generation' for more details.";
      return { ...reject(message, { code: "tool_use_failed", failed_generation }), isEvent: true };
    },
    whole: (reply) =>
      completion(
        {
          content: reply.text,
          reasoning: reply.reasoning,
          ...(reply.calls.length > 0 && { tool_calls: callsOf(reply) }),
        },
        { finish: finishOf(reply), usage, x_groq: { id: "req_1" } },
      ),
    events: (reply, body) => [
      chunk({ role: "assistant", content: "" }, null, { x_groq: { id: "req_1" } }),
      ...cut(reply.reasoning).map((text) => chunk({ reasoning: text, channel: "analysis" })),
      ...(reply.text === "" ? [] : cut(reply.text).map((text) => chunk({ content: text }))),
      ...callPieces(reply).map((piece) => chunk(piece)),
      chunk({}, finishOf(reply), { x_groq: { id: "req_1", usage } }),
      ...usageChunk(body, usage),
    ],
  };
}
