import { isDeepStrictEqual } from "node:util";
import type { ChatServerFamily } from "./chat-server";
import { openaiChat } from "./openai-chat";
import { geminiToolsProblem } from "./schema-rules";
import { type BackMessage, type ChatFamily, calculation, opaque } from "./strict-chat";

const MISSING = "Function call is missing a thought_signature in functionCall parts.";
const isMarked = ({ tool_calls = [] }: BackMessage) =>
  isDeepStrictEqual(tool_calls[0]?.extra_content, {
    google: { thought_signature: "skip_thought_signature_validator" },
  });

const errorBody = (message: string) => [{ error: { code: 400, message, status: "INVALID_ARGUMENT" } }];

/**
 * Gemini 3 over its OpenAI-compatible interface. The first of parallel calls has a signature, which the current
 * turn must return; other models' calls have a mark instead:
 * https://ai.google.dev/gemini-api/docs/thought-signatures. Calls are complete, and errors are lists:
 * https://discuss.ai.google.dev/t/openai-api-compatibility-broken-due-to-thought-signature-on-gemini-3-pro-preview/109823.
 */
export const gemini: ChatFamily = {
  name: "gemini",
  reply: (turn) => ({
    content: turn === 0 ? null : "I go on.",
    extra_content: { google: { thought_signature: opaque() } },
    tool_calls: [
      { ...calculation(turn), extra_content: { google: { thought_signature: opaque(3_000) } } },
      calculation(turn),
    ],
  }),
  pieces({ content, tool_calls, ...fields }) {
    return [
      { role: "assistant", content, ...fields },
      ...(tool_calls ?? []).map((call, index) => ({ role: "assistant", tool_calls: [{ index, ...call }] })),
    ];
  },
  check(sent, back) {
    if (isMarked(back)) return null;
    const differs = (sent.tool_calls ?? []).some(
      ({ extra_content }, index) =>
        !isDeepStrictEqual(back.tool_calls?.[index]?.extra_content, extra_content),
    );
    if (differs) return MISSING;
    return isDeepStrictEqual(back.extra_content, sent.extra_content) ? null : "Corrupted thought signature.";
  },
  checkForeign: (back) => (isMarked(back) ? null : MISSING),
  errorBody,
};

/** Gemini, as strict about schemas of functions. */
export const createGeminiTools = ({ isOld }: { isOld: boolean }): ChatServerFamily => {
  const reject = (message: string) => ({ status: 400, body: errorBody(message) });
  return {
    ...openaiChat,
    reject,
    check({ tools = [] }) {
      const problem = geminiToolsProblem(
        tools.map((each) => each.function),
        isOld,
      );
      return problem === null ? null : reject(problem);
    },
  };
};
