import {
  type ChatServerFamily,
  callPieces,
  callsOf,
  chunk,
  completion,
  cut,
  finishOf,
  letters,
  type Reply,
  USAGE,
  usageChunk,
} from "./chat-server";

/**
 * After tools/server/server-common.cpp of ggml-org/llama.cpp: schemas of tools and answers become one grammar,
 * which some patterns break (lidge-jun/opencodex#2135).
 */

const failed = (message: string) => ({
  status: 400,
  body: { error: { code: 400, message, type: "invalid_request_error" } },
});
const timings = { cache_n: 60, prompt_n: 40, prompt_ms: 30.5, predicted_n: 50, predicted_ms: 900.25 };
const usage = { ...USAGE, prompt_tokens_details: { cached_tokens: 60 } };
const GRAMMAR_BREAKS = /"pattern":/;

export const llamaServer: ChatServerFamily = {
  name: "llama-server",
  callId: () => letters(32),
  reject: failed,
  check(body) {
    for (const { role, content, tool_calls } of body.messages) {
      if (role !== "assistant" && content === undefined)
        return failed("All non-assistant messages must contain 'content'");
      if (content === undefined && tool_calls === undefined)
        return failed("Assistant message must contain either 'content' or 'tool_calls'!");
      if (typeof content !== "string") return failed("Expected 'content' to be a string or an array");
    }
    if (body.grammar !== undefined && body.tools !== undefined)
      return failed("Cannot use custom grammar constraints with tools.");
    if (body.top_logprobs !== undefined && body.logprobs !== true)
      return failed("top_logprobs requires logprobs to be set to true");
    const schemas = JSON.stringify([body.tools ?? [], body.response_format ?? {}]);
    return GRAMMAR_BREAKS.test(schemas)
      ? failed("Failed to initialize samplers: failed to parse grammar")
      : null;
  },
  whole: (reply) =>
    completion(
      {
        content: reply.text,
        reasoning_content: reply.reasoning,
        ...(reply.calls.length > 0 && { tool_calls: callsOf(reply) }),
      },
      { finish: finishOf(reply), usage, timings },
    ),
  events: (reply, body) => [
    chunk({ role: "assistant", content: null }),
    ...cut(reply.reasoning).map((text) => chunk({ reasoning_content: text })),
    ...(reply.text === "" ? [] : cut(reply.text).map((text) => chunk({ content: text }))),
    ...callPieces(reply).map((piece) => chunk(piece)),
    chunk({}, finishOf(reply)),
    ...usageChunk(body, usage, { timings }),
  ],
};

const thinks = ({ reasoning, text }: Reply) => `<think>\n${reasoning}</think>\n\n${text}`;

const withOldForm = (reply: Reply) => {
  const [first] = reply.calls;
  if (first === undefined) return {};
  const { name, arguments: text } = first;
  return { tool_calls: callsOf(reply), function_call: { name: `${name}:`, arguments: text } };
};

/**
 * After llama_cpp/server/types.py and errors.py of abetlen/llama-cpp-python: ignores unknown parameters,
 * `max_completion_tokens` (#1907) and `stream_options`; a format other than text and json_object gets a 500.
 * Streams have no usage. Reasoning is in the text. Without `tool_choice`, tools are ignored
 * (chatml-function-calling of llama_cpp/llama_chat_format.py).
 */
export const llamaCppPython: ChatServerFamily = {
  name: "llama-cpp-python",
  needsToolChoice: true,
  callId: () => `call__0_calculate_cmpl-${letters(36)}`,
  reject: (message) => ({
    status: 400,
    body: { error: { message, type: "invalid_request_error", param: null, code: null } },
  }),
  check({ response_format: format, top_logprobs: top }) {
    const wrong = (loc: string, msg: string) => {
      const message = `[{'type': 'literal_error', 'loc': (${loc}), 'msg': "${msg}"}]`;
      const error = { message, type: "internal_server_error", param: null, code: null };
      return { status: 500, body: { error } };
    };
    if (typeof top === "number" && top < 0)
      return {
        ...wrong("'body', 'top_logprobs'", "Input should be greater than or equal to 0"),
        status: 422,
      };
    return format === undefined
      ? null
      : wrong("'body', 'response_format', 'type'", "Input should be 'text' or 'json_object'");
  },
  whole: (reply, { max_tokens }) =>
    completion(
      { content: thinks(reply), ...withOldForm(reply) },
      {
        finish: finishOf(reply),
        // Without max_tokens nothing limits a reply.
        usage:
          max_tokens === undefined ? { ...USAGE, completion_tokens: 50_000, total_tokens: 50_100 } : USAGE,
      },
    ),
  events: (reply) => [
    chunk({ role: "assistant" }),
    ...cut(thinks(reply)).map((text) => chunk({ content: text })),
    ...callPieces(reply).map((piece) => chunk(piece)),
    chunk({}, finishOf(reply)),
  ],
};
