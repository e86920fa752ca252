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
import { longDescription, openaiToolsProblem } from "./schema-rules";

/**
 * A reasoning model over chat completions. It offers functions only without reasoning, also if no effort was
 * requested (BerriAI/litellm#34569), and rejects `max_tokens` and unknown parameters
 * (https://platform.openai.com/docs/api-reference/chat/create).
 */

const KNOWN =
  "model messages temperature top_p max_completion_tokens stream stream_options stop seed response_format tools tool_choice " +
  "presence_penalty frequency_penalty n parallel_tool_calls reasoning_effort verbosity store metadata user logprobs";
const reject = (message: string, param: string | null = null) => ({
  status: 400,
  body: { error: { message, type: "invalid_request_error", param, code: null } },
});
const usage = {
  ...USAGE,
  prompt_tokens_details: { cached_tokens: 60, audio_tokens: 0 },
  completion_tokens_details: { reasoning_tokens: 30, audio_tokens: 0 },
};

export const openaiChat: ChatServerFamily = {
  name: "openai-chat",
  callId: () => `call_${letters(24)}`,
  reject,
  check(body) {
    if (body.max_tokens !== undefined)
      return reject(
        "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
        "max_tokens",
      );
    const unknown = findUnknown(body, KNOWN);
    if (unknown !== undefined) return reject(`Unknown parameter: '${unknown}'.`, unknown);
    if (body.temperature !== undefined && body.temperature !== 1)
      return reject(
        "Unsupported value: 'temperature' does not support 0.2 with this model. Only the default (1) value is supported.",
        "temperature",
      );
    const functions = (body.tools ?? []).map((each) => each.function);
    const long = longDescription(functions, "function.description");
    if (long !== null) return reject(long.message, long.param);
    const problem = openaiToolsProblem(functions);
    if (problem !== null) return reject(problem.message, `tools[${problem.index}].function.parameters`);
    if (body.tools === undefined || body.reasoning_effort === "none") return null;
    return reject(
      `Function tools with reasoning_effort are not supported for ${body.model} in /v1/chat/completions. To use function tools, use /v1/responses or set reasoning_effort to 'none'.`,
      "reasoning_effort",
    );
  },
  whole: (reply) =>
    completion(
      {
        content: reply.text || null,
        refusal: null,
        annotations: [],
        ...(reply.calls.length > 0 && { tool_calls: callsOf(reply) }),
      },
      { finish: finishOf(reply), usage, service_tier: "default", system_fingerprint: null },
    ),
  events: (reply, body) => [
    chunk({ role: "assistant", content: reply.calls.length > 0 ? null : "", refusal: null }, null, {
      usage: null,
    }),
    ...(reply.text === ""
      ? []
      : cut(reply.text).map((text) => chunk({ content: text }, null, { usage: null }))),
    ...callPieces(reply).map((piece) => chunk(piece, null, { usage: null })),
    chunk({}, finishOf(reply), { usage: null }),
    ...usageChunk(body, usage),
  ],
};
