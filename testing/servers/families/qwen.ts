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
import { deepseek } from "./deepseek";
import type { ChatFamily } from "./strict-chat";

/**
 * After https://www.alibabacloud.com/help/en/model-studio/deep-thinking and
 * https://www.alibabacloud.com/help/en/model-studio/qwen-api-via-openai-chat-completions. Errors: thinking without
 * streaming (infiniflow/ragflow#8972), a schema with thinking (presenton/presenton#184), a forced call with
 * thinking (cloudwego/eino#994), the largest thinking (CherryHQ/cherry-studio#7263) and output
 * (musistudio/claude-code-router#1327), arguments that are not JSON (HKUDS/nanobot#2469), no question
 * (agentscope-ai/agentscope-java#613). Later pieces of calls may lack name and arguments
 * (deepset-ai/haystack#9581).
 */

const MAX_THINKING = 38_912;
const MAX_OUTPUT = 8_192;

const errorBody = (message: string) => {
  const request_id = "0f5a1f1e-dac6-9c1b-9bdb-2f0c22b8af45";
  const error = { code: "invalid_parameter_error", param: null, message, type: "invalid_request_error" };
  return { error, id: `chatcmpl-${request_id}`, request_id };
};
const reject = (message: string) => ({ status: 400, body: errorBody(message) });
const rejectValue = (message: string) => reject(`<400> InternalError.Algo.InvalidParameter: ${message}`);
const usage = {
  ...USAGE,
  completion_tokens_details: { reasoning_tokens: 30 },
  prompt_tokens_details: { cached_tokens: 60 },
};

/**
 * A model that thinks unless told otherwise, as the open ones do.
 * @param thinksOnlyStreamed as most of them; newer ones also think in one piece.
 */
export const createQwen = (thinksOnlyStreamed: boolean): ChatServerFamily => ({
  name: "qwen",
  callId: () => `call_${letters(22)}`,
  reject,
  check(body) {
    const { messages, enable_thinking, thinking_budget, tool_choice, response_format } = body;
    const { max_tokens, max_completion_tokens = max_tokens ?? 1 } = body;
    const thinks = enable_thinking !== false;
    if (thinks && thinksOnlyStreamed && !body.stream)
      return reject("parameter.enable_thinking must be set to false for non-streaming calls");
    if (thinks && response_format !== undefined)
      return rejectValue("Json mode response is not supported when enable_thinking is true");
    if (thinks && tool_choice === "required")
      return rejectValue(
        "The tool_choice parameter does not support being set to required or object in thinking mode",
      );
    if (thinking_budget !== undefined && Number(thinking_budget) > MAX_THINKING)
      return rejectValue(
        `The thinking_budget parameter must be a positive integer and not greater than ${MAX_THINKING}`,
      );
    if (max_completion_tokens > MAX_OUTPUT)
      return rejectValue(`Range of max_tokens should be [1, ${MAX_OUTPUT}]`);
    if (!messages.some(({ role }) => role === "user"))
      return rejectValue("The input messages do not contain elements with the role of user");
    const calls = messages.flatMap(({ tool_calls = [] }) => tool_calls);
    return calls.every((call) => isJson(call.function.arguments))
      ? null
      : rejectValue('The "function.arguments" parameter of the code model must be in JSON format.');
  },
  whole: (reply) =>
    completion(
      {
        content: reply.text,
        reasoning_content: reply.reasoning,
        ...(reply.calls.length > 0 && {
          tool_calls: callsOf(reply).map((call, index) => ({ index, ...call })),
        }),
      },
      { finish: finishOf(reply), usage, system_fingerprint: null },
    ),
  events: (reply, body) => [
    ...cut(reply.reasoning).map((text) =>
      chunk({ role: "assistant", content: null, reasoning_content: text }),
    ),
    ...(reply.text === ""
      ? []
      : cut(reply.text).map((text) => chunk({ content: text, reasoning_content: null }))),
    ...piecesOf(callsOf(reply)).map((piece) => chunk({ content: null, ...piece })),
    chunk({ content: "", reasoning_content: null }, finishOf(reply)),
    ...usageChunk(body, usage),
  ],
});

/** Qwen with `preserve_thinking`: the real one only loses the reasoning of messages that come back without it. */
export const qwen: ChatFamily = {
  ...deepseek,
  name: "qwen",
  reply: () => deepseek.reply(0),
  pieces: ({ content, reasoning_content, tool_calls = [] }) => [
    ...cut(String(reasoning_content ?? "")).map((text) => ({
      role: "assistant",
      content: null,
      reasoning_content: text,
    })),
    ...(content ? cut(content).map((text) => ({ content: text, reasoning_content: null })) : []),
    ...piecesOf(tool_calls).map((piece) => ({ content: null, reasoning_content: null, ...piece })),
  ],
  check: (sent, back) =>
    back.reasoning_content === sent.reasoning_content ? null : "The reasoning did not come back.",
  checkForeign: () => null,
  errorBody,
};

/** Later pieces have an empty id and no name. */
function piecesOf(calls: { function: { name: string; arguments: string } }[]): object[] {
  return calls.flatMap(({ function: { name, arguments: text }, ...call }, index) => {
    const later = (more: object) => ({
      tool_calls: [{ index, id: "", type: "function", function: { name: null, ...more } }],
    });
    return [
      { tool_calls: [{ index, ...call, function: { name, arguments: "" } }] },
      ...cut(text).map((part) => later({ arguments: part })),
      later({ arguments: null }),
    ];
  });
}

function isJson(text: string): boolean {
  try {
    return typeof JSON.parse(text) === "object";
  } catch {
    return false;
  }
}
