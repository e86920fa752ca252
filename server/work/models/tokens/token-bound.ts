import { type JsonObject, writeJson } from "@/server/base/json/json";
import { perOwner } from "@/server/base/per-owner";
import { describeSchema } from "@/server/work/models/json-answer";
import { type ModelMessage, type OfferedTool, type Prompt, sentTools } from "@/server/work/models/port";
import { readStateTexts } from "./state-texts";

function unitTokens(code: number): number {
  if (code < 0x1100) return 1;
  if (code >= 0xd800 && code <= 0xdfff) return 2;
  if ((code >= 0x3000 && code <= 0x9fff) || (code >= 0xac00 && code <= 0xd7a3)) return 1.4;
  return 2.4;
}

const OTHER = 0;
const LOWER = 1;
const UPPER = 2;
const DIGIT = 3;
const BLANK = 4;

function kindOf(code: number): number {
  if (code >= 97 && code <= 122) return LOWER;
  if (code === 32 || (code >= 9 && code <= 13)) return BLANK;
  if (code >= 65 && code <= 90) return UPPER;
  return code >= 48 && code <= 57 ? DIGIT : OTHER;
}

// An upper bound without a vocabulary: 0–60 % above the count of tokens.ts for prose, code, JSON and
// hexadecimal, and up to 200 % above for other scripts. Only for random letters it is below, by a third.
function boundTextTokens(text: string): number {
  const { length } = text;
  let tokens = 0;
  for (let i = 0; i < length; ) {
    const code = text.charCodeAt(i);
    const kind = kindOf(code);
    const begin = i;
    i += 1;
    if (kind === LOWER || kind === UPPER) {
      let before = kind;
      for (; i < length; i += 1) {
        const next = kindOf(text.charCodeAt(i));
        // A capital inside a word begins a new piece, as in camelCase and base64.
        if (next !== LOWER && (next !== UPPER || before === LOWER)) break;
        before = next;
      }
      // Vocabularies have common words as one token; long runs of letters are names and codes of many tokens.
      const letters = i - begin;
      tokens += letters <= 5 ? 1 : Math.ceil(letters / (letters <= 16 ? 4 : 1.7));
    } else if (kind === DIGIT) {
      while (i < length && kindOf(text.charCodeAt(i)) === DIGIT) i += 1;
      tokens += Math.ceil((i - begin) / 2);
    } else if (kind === BLANK) {
      while (i < length && kindOf(text.charCodeAt(i)) === BLANK) i += 1;
      // A single blank is part of the word after it.
      if (i - begin > 1) tokens += 1 + Math.floor((i - begin) / 16);
    } else {
      tokens += code < 128 ? 1 : unitTokens(code);
    }
  }
  return Math.ceil(tokens);
}

const MESSAGE_OVERHEAD = 6;
const TOOL_OVERHEAD = 16;
const REQUEST_OVERHEAD = 8;
// Twice the estimate of tokens.ts.
const LEAST_OPAQUE_PER_TOKEN = 2;

// Bounds are cached: messages and schemas recur with every iteration of a run.
const boundMessage = perOwner((message: ModelMessage): number => {
  let tokens = MESSAGE_OVERHEAD + boundTextTokens(message.content);
  if (message.role !== "assistant") return tokens;
  const { texts, opaque } = readStateTexts(message);
  tokens += Math.ceil(opaque / LEAST_OPAQUE_PER_TOKEN);
  for (const text of texts) tokens += boundTextTokens(text);
  for (const call of message.toolCalls) {
    tokens += MESSAGE_OVERHEAD + boundTextTokens(call.name) + boundTextTokens(call.arguments);
  }
  return tokens;
});
const boundParameters = perOwner((schema: JsonObject) => boundTextTokens(writeJson(schema)));
const boundTool = perOwner(
  ({ name, description, parameters }: OfferedTool) =>
    TOOL_OVERHEAD + boundTextTokens(name) + boundTextTokens(description) + boundParameters(parameters),
);
const boundAnswerSchema = perOwner((schema: JsonObject) => boundTextTokens(describeSchema(schema)));

/** A quick upper bound for the tokens of a request (see `boundTextTokens`). Messages must not change afterwards. */
export function boundRequestTokens(request: Prompt): number {
  let tokens = REQUEST_OVERHEAD;
  for (const message of request.messages) tokens += boundMessage(message);
  for (const tool of sentTools(request)) tokens += boundTool(tool);
  if (request.responseSchema) tokens += boundAnswerSchema(request.responseSchema);
  return tokens;
}
