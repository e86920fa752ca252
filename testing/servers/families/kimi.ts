import { deepseek } from "./deepseek";
import type { ChatFamily } from "./strict-chat";

const MISSING =
  "thinking is enabled but reasoning_content is missing in assistant tool call message at index 2";

/**
 * Kimi K2 Thinking, whose reasoning must come back within a turn:
 * https://platform.moonshot.ai/docs/guide/use-kimi-k2-thinking-model; the error's words are those in
 * continuedev/continue#11600.
 */
export const kimi: ChatFamily = {
  ...deepseek,
  name: "kimi",
  reply: (turn) => ({ ...deepseek.reply(0), content: `Step ${turn}.` }),
  check: (sent, back) => (back.reasoning_content === sent.reasoning_content ? null : MISSING),
  checkForeign: (back) => (back.reasoning_content ? null : MISSING),
};
