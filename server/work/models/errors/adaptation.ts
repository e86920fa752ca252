import { isDeepStrictEqual } from "node:util";
import { unmarkExact } from "@/server/base/json/exact-number";
import type { ModelRequest } from "@/server/work/models/port";
import { addLostStates, isLostState } from "./lost-states";
import { numberIn, readOverflow } from "./overflow";
import { findQuirk, type Quirk } from "./quirks";
import { isFailedGeneration, ReplyError, ResponseError, statedText } from "./replies";

/** Features that a provider does not support for a model, learned from its errors. */
export type Adaptation = {
  /** The server supports `max_tokens`, but rejects or ignores `max_completion_tokens`. */
  oldTokenLimit: boolean;
  /** The server rejects `response_format`: the prompt describes the schema. */
  schemaInPrompt: boolean;
  /** The server rejects streaming, or reports no usage with it. */
  unstreamed: boolean;
  /** The last stream broke off: the server is asked without streaming if the next one does, too. */
  streamBroke: boolean;
  /** The server rejects results of calls unless tools are offered, too. */
  toolsAlways: boolean;
  /** Fields of its own messages that the server rejects. */
  unwantedFields: readonly string[];
  /** Parameters with their rejected values. */
  rejectedSettings: readonly string[];
  quirks: readonly Quirk[];
  /** Of a tool, in characters; infinite if unknown. */
  maxDescription: number;
  /** Hashes of states that the server can no longer verify. */
  lostStates: readonly string[];
  /** Infinite if unknown. */
  maxOutputTokens: number;
  /** In tokens; infinite if unknown. */
  contextWindow: number;
  /** The model's tokens for one of ours. */
  tokenRatio: number;
};

/** The assumption before the first response. */
export const UNKNOWN_SERVER: Adaptation = {
  oldTokenLimit: false,
  schemaInPrompt: false,
  unstreamed: false,
  streamBroke: false,
  toolsAlways: false,
  unwantedFields: [],
  rejectedSettings: [],
  quirks: [],
  maxDescription: Number.POSITIVE_INFINITY,
  lostStates: [],
  maxOutputTokens: Number.POSITIVE_INFINITY,
  contextWindow: Number.POSITIVE_INFINITY,
  tokenRatio: 1,
};

type Rejection = { status: number | undefined; text: string; parameter?: string | undefined };

const MAX_PARAMETER_LENGTH = 200;

function readRejection(error: unknown): Rejection | null {
  if (!(error instanceof ResponseError || error instanceof ReplyError)) return null;
  // The error shows what the model wrote, with any words.
  if (isFailedGeneration(error)) return null;
  const { status, param: parameter } = error;
  const text = `${statedText(error)} ${(parameter ?? "").slice(0, MAX_PARAMETER_LENGTH)}`;
  return { status, text, parameter };
}

type Tried = {
  request: Pick<ModelRequest, "messages" | "withheldTools">;
  parameters: Record<string, unknown>;
  fields: readonly string[];
  /** Provider, interface, address and model. */
  origin: string;
};

/** The adaptation after an error; the same one if the error teaches nothing. */
export function learnFrom(
  error: unknown,
  known: Adaptation,
  { request, parameters, fields, origin }: Tried,
): Adaptation {
  const rejection = readRejection(error);
  if (rejection === null) return known;
  const { status = 500, text } = rejection;
  const lostStates = isLostState(error) ? addLostStates(known.lostStates, request.messages, origin) : null;
  if (lostStates !== null && lostStates !== known.lostStates) return { ...known, lostStates };
  // An error that states a known demand teaches nothing else.
  const quirk = findQuirk(text, known.quirks);
  if (quirk !== undefined) return { ...known, quirks: [...known.quirks, quirk] };
  const isInvalid = status === 400 || status === 422;
  // Qwen names a setting, too, but the schema is what can be sent otherwise (presenton/presenton#184).
  if (isInvalid && REJECTED_JSON.test(text) && !known.schemaInPrompt)
    return { ...known, schemaInPrompt: true };
  const maxDescription = isInvalid ? (numberIn(text, DESCRIPTION_MAXIMUM) ?? 0) : 0;
  if (maxDescription > 0 && maxDescription < known.maxDescription) return { ...known, maxDescription };
  // llama-cpp-python answers 500 with the text of its validation. Of such errors only unmistakable words count.
  if (!isInvalid && status < 500) return known;
  const isUnwanted = (field: string) =>
    isInvalid &&
    UNWANTED.test(text) &&
    text.split(/[^\w-]+/).includes(field) &&
    !known.unwantedFields.includes(field);
  const sent = acceptedParameters(parameters, known);
  const rejected = isInvalid || REJECTED_THINKING.test(text) ? findRejectedSettings(rejection, sent) : [];
  return {
    ...known,
    rejectedSettings: [...known.rejectedSettings, ...rejected].slice(-MAX_REJECTED_SETTINGS),
    unwantedFields: [...known.unwantedFields, ...fields.filter(isUnwanted)],
    // The error of the old limit names the new one.
    oldTokenLimit: known.oldTokenLimit ? !WANTS_NEW_LIMIT.test(text) : text.includes("max_completion_tokens"),
    schemaInPrompt: known.schemaInPrompt || REJECTED_FORMAT.test(text),
    // Bedrock and Anthropic behind LiteLLM: "expects the `tools=` param" (langgenius/dify-official-plugins#2063).
    toolsAlways: known.toolsAlways || (hasWithheld(request) && /tool|function/i.test(text)),
    unstreamed: known.unstreamed || (isInvalid && /\bstream(?:s|ing|_options)?\b/i.test(text)),
  };
}

// LiteLLM passes the format on to Anthropic and Bedrock as `output_…` (vectorize-io/hindsight#3300,
// BerriAI/litellm#21407). Only the format has `strict` (OpenRouterTeam/openrouter-examples#71).
const REJECTED_FORMAT =
  /response_(?:format|schema)|response schema|json_schema|text\.format|grammar|output_format|output_config(?:\.format|: Extra)|parameter ['"`]strict['"`]/;

const WANTS_NEW_LIMIT = /use '?max_completion_tokens/i;

// OpenAI and Azure, over both interfaces (langchain-ai/open_deep_research#80, OpenHands/OpenHands#4838).
const DESCRIPTION_MAXIMUM = [/tools\[\d+\]\.(?:function\.)?description'?: string too long\D{0,80}(\d+)/i];

const REJECTED_JSON = /json mode response is not supported/i;

// Groq in karthink/gptel#774, Mistral in charmbracelet/crush#1590.
const UNWANTED =
  /unsupported|not supported|not permitted|not allowed|forbidden|unknown|unrecogni[sz]ed|unexpected|additional propert/i;

const hasWithheld = ({ messages, withheldTools = [] }: Pick<ModelRequest, "messages" | "withheldTools">) =>
  withheldTools.length > 0 && messages.some(({ role }) => role === "tool");

const MAX_REJECTED_SETTINGS = 50;
const withValue = (name: string, value: unknown) =>
  unmarkExact(`${name}=${JSON.stringify(value)}`).slice(0, 200);

/** The parameters of a request's settings, without those that the model rejects. */
export const acceptedParameters = (
  parameters: Record<string, unknown>,
  { rejectedSettings }: Pick<Adaptation, "rejectedSettings">,
): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(parameters).filter(
      ([name, value]) =>
        value !== undefined &&
        (rejectedSettings.length === 0 || !rejectedSettings.includes(withValue(name, value))),
    ),
  );

function findRejectedSettings({ text, parameter }: Rejection, sent: Record<string, unknown>): string[] {
  const names = Object.keys(sent);
  const stated = names.filter((name) => name === parameter || name.startsWith(`${parameter}.`));
  const parts = text.split(/[^\w.]+/);
  const words = new Set(parts.flatMap((part) => [part.replace(/(?<!\.)\.+$/, ""), ...part.split(".")]));
  const nameOf = (word: string) =>
    Object.hasOwn(sent, word)
      ? word
      : (names.find((name) => toCamelCase(name) === word) ??
        (DISTINCT.has(word) && names.find((name) => name.endsWith(`.${word}`))));
  const first =
    [...words].map((word) => isMeant(word, text) && nameOf(word)).find((name) => name) ||
    (REJECTED_THINKING.test(text) && names.find((name) => name === "reasoning_effort"));
  const found = stated.length > 0 ? stated : first ? [first] : [];
  return found.map((name) => withValue(name, sent[name]));
}

// As in xAI's errors: "does not support parameter reasoningEffort" (BerriAI/litellm#16265).
const toCamelCase = (name: string) => name.replaceAll(/_(\w)/g, (_, letter: string) => letter.toUpperCase());

// Ollama's errors about `reasoning_effort` (ollama/ollama#12561, openai/openai.go).
const REJECTED_THINKING = /does not support thinking|think value .* not supported|invalid reasoning value/i;

const DISTINCT = new Set(["effort", "verbosity"]);

function isMeant(word: string, text: string): boolean {
  if (word === "include") return /["'`]include["'`]/.test(text);
  // Anthropic names it also where a message lacks its thinking.
  return (
    word !== "thinking" || /thinking[^.]*not support|not support[^.]*thinking|thinking\.\w+:/i.test(text)
  );
}

export const isStreamed = (
  { onText }: Pick<ModelRequest, "onText">,
  { quirks, unstreamed }: Pick<Adaptation, "quirks" | "unstreamed">,
): boolean => quirks.includes("streamedAlways") || (onText !== undefined && !unstreamed);

export const isSame = (one: Adaptation, other: Adaptation): boolean => isDeepStrictEqual(one, other);

const IS_ABOUT_OUTPUT =
  /max_(?:completion_|output_|new_)?tokens|completion tokens|output tokens|maximum tokens you requested/i;
const OUTPUT_MAXIMUM = [
  // Anthropic: "max_tokens: 100000 > 64000, which is the maximum allowed number of output tokens for …".
  /max_tokens: \d+ > (\d+)/,
  // Bedrock, also behind OpenAI's interface.
  /exceeds (?:the )?model (?:limit of |maximum \()(\d[\d,]*)/i,
  /(?:at most|maximum (?:value|allowed|of|is)(?: is)?|less than or equal to|<=|≤|range of max_tokens (?:is|should be) \[1,) ?`?(\d[\d,]*)/i,
];

/**
 * The output limit to repeat a request with that asked for too much, from the errors of OpenAI ("supports at most
 * 16384 completion tokens"; "maximum context length is 8192 tokens … (1000 in the messages, 32000 in the
 * completion)"), vLLM, Qwen and DeepSeek ("Range of max_tokens should be [1, 8192]"). `isModels`: it holds for
 * every request. Null for another error.
 */
export function readOutputMaximum(
  error: unknown,
  asked: Pick<ModelRequest, "maxOutputTokens">,
): { maximum: number; isModels: boolean } | null {
  const rejection = readRejection(error);
  if (rejection === null || (rejection.status !== 400 && rejection.status !== 422)) return null;
  const { text } = rejection;
  const { window = null, input = null, isLeast = false } = readOverflow(error) ?? {};
  const most = IS_ABOUT_OUTPUT.test(text) ? numberIn(text, OUTPUT_MAXIMUM) : null;
  const left = input === null || isLeast ? null : (window ?? 0) - input;
  const maximum = window === null ? most : left;
  if (maximum === null || maximum < 1 || maximum >= asked.maxOutputTokens) return null;
  return { maximum, isModels: window === null };
}
