import { isThoughtless, thinks } from "@/server/work/models/message-state";
import type { ModelRequest } from "@/server/work/models/port";

type Asked = Pick<ModelRequest, "messages" | "onText" | "tools" | "withheldTools" | "responseSchema"> & {
  parameters: () => Record<string, unknown>;
  origin: string;
};

type Demand = {
  rejection: RegExp;
  applies(request: Asked): boolean;
  change: string;
};

const hasCalls = ({ messages }: Asked) =>
  messages.some((message) => message.role === "assistant" && message.toolCalls.length > 0);

const asksWithSchemas = ({ tools, withheldTools = [], responseSchema }: Asked) =>
  tools.length + withheldTools.length > 0 || responseSchema !== undefined;

const DEMANDS = {
  // Mistral, e.g. nearai/ironclaw#1241. Other providers' ids come with a fallback.
  shortCallIds: {
    rejection: /tool call id\b.*length of 9/i,
    applies: hasCalls,
    change: "ids of calls were replaced by ids of nine characters",
  },
  // Bedrock and Claude behind gateways (vercel/ai#14612, OpenHands/OpenHands#5339).
  nullContent: {
    rejection:
      /text content blocks must be non-empty|text field in the contentblock object at \S+ is blank|\.text\.text: field required/i,
    applies: ({ messages }) =>
      messages.some((each) => each.role === "assistant" && each.toolCalls.length > 0 && each.content === ""),
    change: "null was sent as the text of messages that only call",
  },
  // Gemini behind gateways (ollama/ollama#14214, langflow-ai/langflow#9437).
  namedResults: {
    rejection: /function_response\.name: name cannot be empty/i,
    applies: ({ messages }) => messages.some(({ role }) => role === "tool"),
    change: "results were sent with the names of their functions",
  },
  // Mistral, e.g. BerriAI/litellm#17761, its models on own servers (mistralai/mistral-vibe#1006), and Perplexity
  // (iamsrikanthnani/pluely#71).
  resultsApart: {
    rejection:
      /unexpected role '?user'? after role '?tool'?|user or tool message\(s\) should alternate with assistant|roles must alternate/i,
    applies: ({ messages }) =>
      messages.some(({ role }, index) => role === "user" && messages[index - 1]?.role === "tool"),
    change: "a message was put between the results of calls and the next question",
  },
  // OpenAI's newer models over chat completions, also without an effort (BerriAI/litellm#34569).
  noReasoningWithTools: {
    rejection: /function tools with reasoning_effort are not supported/i,
    applies: ({ tools }) => tools.length > 0,
    change:
      "reasoning_effort: none was sent, because the model offers functions with reasoning only over responses",
  },
  // DeepSeek (HKUDS/nanobot#946) and Kimi (continuedev/continue#11600): messages of other models have none.
  reasoningAlways: {
    rejection:
      /reasoning_content`?\b[^.]*(?:must be passed back|is missing)|(?:missing|must include) `?reasoning_content/i,
    applies: hasCalls,
    change: "a blank reasoning_content was sent with messages that have none",
  },
  // Gemini 3: https://ai.google.dev/gemini-api/docs/thought-signatures, calls of other models.
  signatureAlways: {
    rejection: /missing a [`']?thought_signature/i,
    applies: hasCalls,
    change: "calls without a signature were sent with a mark instead",
  },
  // Anthropic: https://platform.claude.com/docs/en/build-with-claude/extended-thinking, tool use.
  thinksWholeTurns: {
    rejection: /expected [`'"]?thinking[`'"]? or [`'"]?redacted_thinking/i,
    applies: ({ messages, parameters, origin }) =>
      origin.includes(" anthropic ") && isThoughtless(messages, origin) && thinks(parameters().thinking),
    change: "thinking was turned off, because the turn began without it",
  },
  // Gemini's older models (AstrBotDevs/AstrBot#1060, MarkusPfundstein/mcp-obsidian#21).
  filledObjects: {
    rejection: /should be non-empty for OBJECT type/i,
    applies: ({ tools, withheldTools = [] }) => tools.length + withheldTools.length > 0,
    change: "objects without properties were requested as JSON text, in Gemini's form",
  },
  // Gemini and Vertex, with any words about a part of a schema (AnswerDotAI/fastllm#51, jenslys/opencode-gemini-auth#57,
  // anomalyco/opencode#28397, zed-industries/zed#44875).
  geminiSchemas: {
    rejection: /function_?declaration|response_schema\b|response schemas? specified/i,
    applies: asksWithSchemas,
    change: "schemas were sent in Gemini's form",
  },
  // llama.cpp (lidge-jun/opencodex#2135) and vLLM: schemas become grammars, which know few keywords.
  simpleSchemas: {
    rejection:
      /failed to parse grammar|initialize samplers|invalid grammar|compile [^.]*grammar|schema conversion failed|not supported by xgrammar/i,
    applies: asksWithSchemas,
    change: "schemas were sent with few keywords",
  },
  // Gemma's template (sgl-project/sglang#892), Gemma at Google, MiniMax, and OpenAI's first o-models (tailcallhq/forgecode#1177).
  noSystemRole: {
    rejection:
      /system role (?:is )?not supported|(?:developer|system) instruction is not enabled|invalid message role: '?system|does not support '?"?(?:system|developer)\b/i,
    applies: ({ messages, responseSchema }) =>
      responseSchema !== undefined || messages.some(({ role }) => role === "system"),
    change: "the instructions were sent with the first message, because the model takes no system role",
  },
  // Qwen thinks only while it streams (QuantumNous/new-api#905, infiniflow/ragflow#8972), at ModelScope, too
  // (musistudio/claude-code-router#948). Fireworks answers with more than 4,096 tokens only so.
  streamedAlways: {
    rejection:
      /only supports? stream(?:ing)?\b|false for non-streaming calls|非流式调用|not (?:be )?support(?:ed)? when `?stream\s?=\s?false|stream`? must be (?:set to )?`?true|must have `?stream\s?=\s?`?true/i,
    applies: ({ onText }) => onText === undefined,
    change: "the answer was streamed, because the model answers only so",
  },
} satisfies Record<string, Demand>;

export type Quirk = keyof typeof DEMANDS;
const QUIRKS = Object.keys(DEMANDS).filter((name): name is Quirk => Object.hasOwn(DEMANDS, name));

export const findQuirk = (text: string, known: readonly Quirk[]): Quirk | undefined =>
  QUIRKS.find((name) => !known.includes(name) && DEMANDS[name].rejection.test(text));

/** The changes of a request because of these demands, in words. */
export const describeQuirks = (known: readonly Quirk[], request: Asked): string[] =>
  known.filter((name) => DEMANDS[name].applies(request)).map((name) => DEMANDS[name].change);
