import {
  type ChatBody,
  type ChatServerFamily,
  callPieces,
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
 * After vllm/entrypoints/openai/chat_completion/protocol.py and vllm/sampling_params.py: ignores unknown
 * parameters, checks values, and parses returned arguments. Reasoning is `reasoning`, before 0.12
 * `reasoning_content`. The backend xgrammar rejects schemas that it cannot express
 * (vllm/v1/structured_output/backend_xgrammar.py).
 */

const EFFORTS = ["none", "minimal", "low", "medium", "high", "xhigh", "max"];
const reject = (message: string, param: string | null = null) => ({
  status: 400,
  body: { error: { message, type: "BadRequestError", param, code: 400 } },
});
const usage = { ...USAGE, prompt_tokens_details: { cached_tokens: 60 } };

/** @param field the name of its reasoning. */
export const createVllm = (field: "reasoning" | "reasoning_content"): ChatServerFamily => ({
  name: `vllm-${field}`,
  callId: () => `chatcmpl-tool-${letters(32)}`,
  reject,
  check(body) {
    for (const { content, role, tool_calls = [] } of body.messages) {
      // Many templates join contents.
      if (typeof content !== "string")
        return reject(`can only concatenate str (not "NoneType") to str (${role})`);
      if (tool_calls.some((each) => !isObject(each.function.arguments)))
        return reject("Expecting value: line 1 column 1 (char 0)");
    }
    const { min_p: minP, reasoning_effort: effort } = body;
    if (typeof minP === "number" && (minP < 0 || minP > 1))
      return reject(`min_p must be in [0, 1], got ${minP}.`, "min_p");
    if (effort !== undefined && !EFFORTS.includes(String(effort)))
      return reject(`Input should be ${EFFORTS.join(", ")}`, "reasoning_effort");
    return isBeyondGrammar(body)
      ? reject("The provided JSON schema contains features not supported by xgrammar.")
      : null;
  },
  whole: (reply) =>
    completion(
      {
        content: reply.text || null,
        refusal: null,
        annotations: null,
        audio: null,
        function_call: null,
        tool_calls: callsOf(reply),
        [field]: reply.reasoning,
      },
      { finish: finishOf(reply), usage, prompt_logprobs: null, kv_transfer_params: null },
    ),
  events: (reply, body) => [
    chunk({ role: "assistant", content: "" }),
    ...cut(reply.reasoning).map((text) => chunk({ [field]: text })),
    ...(reply.text === "" ? [] : cut(reply.text).map((text) => chunk({ content: text }))),
    ...callPieces(reply).map((piece) => chunk(piece)),
    chunk({ content: "" }, finishOf(reply)),
    ...usageChunk(body, usage),
  ],
});

/** As `has_xgrammar_unsupported_json_features` does. */
function isBeyondGrammar({ response_format }: ChatBody): boolean {
  let isBeyond = false;
  JSON.stringify(response_format ?? {}, (_name, value: unknown) => {
    if (typeof value !== "object" || value === null) return value;
    const hasLength = "minLength" in value || "maxLength" in value;
    if ("multipleOf" in value || "uniqueItems" in value || "contains" in value) isBeyond = true;
    if ("pattern" in value && hasLength) isBeyond = true;
    return value;
  });
  return isBeyond;
}

function isObject(text: string): boolean {
  try {
    return typeof JSON.parse(text) === "object";
  } catch {
    return false;
  }
}
