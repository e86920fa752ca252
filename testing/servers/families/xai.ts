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
 * Reasoning models reject penalties and `stop` (https://docs.x.ai/docs/guides/reasoning), most of them an effort
 * (BerriAI/litellm#16265); errors are a text with parameters in camel case. Reasoning tokens are counted only in
 * the total (vercel/ai#12425). Calls are complete (https://docs.x.ai/docs/guides/function-calling).
 */

const REJECTED = { presence_penalty: "presencePenalty", frequency_penalty: "frequencyPenalty", stop: "stop" };
const reject = (error: string) => ({
  status: 400,
  body: { code: "Client specified an invalid argument", error },
});
const usage = {
  ...USAGE,
  total_tokens: 180,
  prompt_tokens_details: { text_tokens: 100, audio_tokens: 0, image_tokens: 0, cached_tokens: 60 },
  completion_tokens_details: { reasoning_tokens: 30, audio_tokens: 0, accepted_prediction_tokens: 0 },
  num_sources_used: 0,
};

export const xai: ChatServerFamily = {
  name: "xai",
  callId: () => `call_${letters(8)}`,
  reject,
  check(body) {
    for (const [name, words] of Object.entries(REJECTED))
      if (body[name] !== undefined) return reject(`Argument not supported on this model: ${words}`);
    if (body.reasoning_effort !== undefined)
      return reject(`Model ${body.model} does not support parameter reasoningEffort.`);
    return null;
  },
  whole: (reply) =>
    completion(
      {
        content: reply.text,
        reasoning_content: reply.reasoning,
        refusal: null,
        ...(reply.calls.length > 0 && { tool_calls: callsOf(reply) }),
      },
      { finish: finishOf(reply), usage, system_fingerprint: "fp_1" },
    ),
  events: (reply, body) => [
    ...cut(reply.reasoning).map((text) => chunk({ role: "assistant", content: "", reasoning_content: text })),
    ...(reply.text === "" ? [] : cut(reply.text).map((text) => chunk({ role: "assistant", content: text }))),
    ...callsOf(reply).map((call, index) => chunk({ role: "assistant", tool_calls: [{ index, ...call }] })),
    chunk({ role: "assistant", content: "" }, finishOf(reply)),
    ...usageChunk(body, usage),
  ],
};
