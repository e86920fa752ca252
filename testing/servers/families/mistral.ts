import {
  type ChatServerFamily,
  callsOf,
  chunk,
  completion,
  cut,
  findUnknown,
  finishOf,
  letters,
  type Reply,
  USAGE,
} from "./chat-server";

/**
 * Parameters: https://docs.mistral.ai/api (chat completion); others get a 422 (editor-code-assistant/eca#315), as
 * do unknown message fields (charmbracelet/crush#1590). Call ids have nine letters or digits
 * (nearai/ironclaw#1241), no user follows a result (BerriAI/litellm#17761), efforts are none and high
 * (architects-toolkit/SmartHopper#647). Content with reasoning is a list (NousResearch/hermes-agent#11243), to be
 * returned unchanged (vercel/ai#17930). Cached tokens: mistralai/client-ts#240.
 */

const KNOWN =
  "model messages temperature top_p max_tokens stream stream_options stop random_seed response_format tools tool_choice " +
  "presence_penalty frequency_penalty n prediction parallel_tool_calls prompt_mode reasoning_effort safe_prompt metadata";
const MESSAGE_FIELDS = new Set(["role", "content", "tool_calls", "tool_call_id", "name", "prefix"]);

const reject = (message: unknown, { status = 400, type = "invalid_request_error", code = "3051" } = {}) => ({
  status,
  body: { object: "error", message, type, param: null, code },
});
const forbid = (...loc: (string | number)[]) => {
  const detail = [{ type: "extra_forbidden", loc: ["body", ...loc], msg: "Extra inputs are not permitted" }];
  return reject({ detail }, { status: 422 });
};
const usage = { ...USAGE, prompt_tokens_details: { cached_tokens: 60 } };
const thinking = (text: string) => ({ type: "thinking", thinking: [{ type: "text", text }] });
const content = ({ reasoning, text }: Reply) => [
  { ...thinking(reasoning), closed: true },
  ...(text === "" ? [] : [{ type: "text", text }]),
];

export const mistral: ChatServerFamily = {
  name: "mistral",
  callId: () => letters(9),
  reject,
  check(body) {
    const unknown = findUnknown(body, KNOWN);
    if (unknown !== undefined) return forbid(unknown);
    for (const [index, { role, tool_calls = [], tool_call_id, ...message }] of body.messages.entries()) {
      const field = Object.keys(message).find((name) => !MESSAGE_FIELDS.has(name));
      if (field !== undefined) return forbid("messages", index, role, field);
      if (role === "user" && body.messages[index - 1]?.role === "tool")
        return reject("Unexpected role 'user' after role 'tool'", {
          type: "invalid_request_message_order",
          code: "3230",
        });
      const ids = [...tool_calls.map(({ id }) => id), ...(tool_call_id === undefined ? [] : [tool_call_id])];
      const wrong = ids.find((id) => !/^[a-zA-Z0-9]{9}$/.test(id));
      if (wrong !== undefined)
        return reject(`Tool call id was ${wrong} but must be a-z, A-Z, 0-9, with a length of 9.`, {
          type: "invalid_function_call",
          code: "3280",
        });
    }
    const { reasoning_effort: effort } = body;
    if (effort === undefined || effort === "none" || effort === "high") return null;
    return reject(
      `reasoning_effort='${effort}' is not supported for this model. Must be one of (<ReasoningEffort.none: 'none'>, <ReasoningEffort.high: 'high'>)`,
      { type: "invalid_request_invalid_args" },
    );
  },
  whole: (reply) =>
    completion(
      {
        content: content(reply),
        tool_calls:
          reply.calls.length === 0 ? null : callsOf(reply).map((call, index) => ({ ...call, index })),
      },
      { finish: finishOf(reply), usage },
    ),
  events(reply) {
    const calls = callsOf(reply).map((call, index) => ({ ...call, index }));
    return [
      chunk({ role: "assistant", content: "" }),
      ...cut(reply.reasoning).map((text) => chunk({ content: [thinking(text)] })),
      chunk({ content: [{ ...thinking(""), closed: true }] }),
      ...(reply.text === ""
        ? []
        : cut(reply.text).map((text) => chunk({ content: [{ type: "text", text }] }))),
      chunk({ content: "", ...(calls.length > 0 && { tool_calls: calls }) }, finishOf(reply), { usage }),
    ];
  },
};
