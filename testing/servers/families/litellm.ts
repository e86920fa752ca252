import { isDeepStrictEqual } from "node:util";
import {
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
import { opaque } from "./strict-chat";

/**
 * A LiteLLM proxy in front of Anthropic: https://docs.litellm.ai/docs/reasoning_content. It rejects unsupported
 * parameters (BerriAI/litellm#33738). Messages with calls must return their thinking blocks, and results need the
 * tools (langgenius/dify-official-plugins#2063).
 */

const reject = (message: string) => ({
  status: 400,
  body: {
    error: {
      message: `${message}. Received Model Group=claude\nAvailable Model Group Fallbacks=None`,
      type: "invalid_request_error",
      param: null,
      code: "400",
    },
  },
});
const unsupported = (name: string, model: string) =>
  reject(
    `litellm.UnsupportedParamsError: anthropic does not support parameters: ['${name}'], for model=${model}. To drop these, set \`litellm.drop_params=True\` or for proxy`,
  );
const usage = {
  ...USAGE,
  prompt_tokens_details: { audio_tokens: null, cached_tokens: 60, cache_creation_tokens: 10 },
  completion_tokens_details: { reasoning_tokens: 30, text_tokens: 20 },
  cache_creation_input_tokens: 10,
  cache_read_input_tokens: 60,
};

export function createLitellm(): ChatServerFamily {
  const known = new Map<string, unknown>();
  const blocksOf = (thinking: string, id: string | undefined) => {
    const blocks = [{ type: "thinking", thinking, signature: opaque(300) }];
    if (id !== undefined) known.set(id, blocks);
    return blocks;
  };
  return {
    name: "litellm",
    callId: () => `toolu_${letters(24)}`,
    reject,
    check(body) {
      for (const name of ["seed", "verbosity"])
        if (body[name] !== undefined) return unsupported(name, body.model);
      for (const [index, { tool_calls, ...message }] of body.messages.entries()) {
        const id = tool_calls?.[0]?.id;
        if (id === undefined) continue;
        if (body.tools === undefined)
          return reject(
            "litellm.UnsupportedParamsError: Anthropic expects the `tools=` param to be passed in, if messages contain tool calls",
          );
        if (!isDeepStrictEqual(message.thinking_blocks, known.get(id)))
          return reject(
            `litellm.BadRequestError: AnthropicException - messages.${index}.content.0.type: Expected \`thinking\` or \`redacted_thinking\`, but found \`tool_use\``,
          );
      }
      return null;
    },
    whole: (reply) =>
      completion(
        {
          content: reply.text || null,
          reasoning_content: reply.reasoning,
          thinking_blocks: blocksOf(reply.reasoning, reply.calls[0]?.id),
          provider_specific_fields: null,
          function_call: null,
          tool_calls: reply.calls.length === 0 ? null : callsOf(reply),
        },
        { finish: finishOf(reply), usage, system_fingerprint: null },
      ),
    events(reply, body) {
      const [block] = blocksOf(reply.reasoning, reply.calls[0]?.id);
      const thinking = (text: string, signature: string) => ({
        reasoning_content: text,
        thinking_blocks: [{ type: "thinking", thinking: text, signature }],
        provider_specific_fields: null,
      });
      return [
        ...cut(reply.reasoning).map((text) =>
          chunk({ role: "assistant", content: "", ...thinking(text, "") }),
        ),
        chunk({ content: "", ...thinking("", String(block?.signature)) }),
        ...(reply.text === "" ? [] : cut(reply.text).map((text) => chunk({ content: text }))),
        ...callPieces(reply).map((piece) => chunk(piece)),
        chunk({}, finishOf(reply)),
        ...usageChunk(body, usage),
      ];
    },
  };
}
