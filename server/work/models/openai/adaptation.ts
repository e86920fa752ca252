import { isDeepStrictEqual } from "node:util";
import { APIError } from "openai";
import type { ModelRequest } from "@/server/work/models/port";
import type { ModelSettings } from "@/server/work/models/settings";
import { ReplyError } from "./chat-completion";
import { namesOfState } from "./chat-state";
import { PiecesError } from "./streamed-completion";

/** What a provider does not support for a model, learned from its errors. */
export type Adaptation = {
  /** The server supports `max_tokens` but not `max_completion_tokens`. */
  oldTokenLimit: boolean;
  /** The server refuses `response_format`: the prompt describes the schema. */
  schemaInPrompt: boolean;
  /** The server refuses streaming, or reports no usage with it: replies are requested in one piece. */
  unstreamed: boolean;
  /** The server refuses results of calls unless tools are offered, too. */
  toolsAlways: boolean;
  /** Fields of its own messages that the server refuses to get back. */
  unwantedFields: readonly string[];
  /** Parameters of settings that the model refuses, with their values. */
  refusedSettings: readonly string[];
  /** The most output tokens that the model allows; unknown: infinite. */
  maxOutputTokens: number;
};

/** The assumption before the first response. */
export const UNKNOWN_SERVER: Adaptation = {
  oldTokenLimit: false,
  schemaInPrompt: false,
  unstreamed: false,
  toolsAlways: false,
  unwantedFields: [],
  refusedSettings: [],
  maxOutputTokens: Number.POSITIVE_INFINITY,
};

/** A refusal of a request, with all that the server said. */
type Refusal = { status: number | undefined; text: string; parameter?: string | undefined };

function readRefusal(error: unknown): Refusal | null {
  if (error instanceof APIError) {
    const parameter = error.param ?? undefined;
    return { status: error.status, text: `${error.message} ${parameter ?? ""}`, parameter };
  }
  return error instanceof ReplyError ? { status: error.status, text: error.message } : null;
}

/** What an error teaches about the server; the same adaptation if nothing. */
export function learnFrom(
  error: unknown,
  known: Adaptation,
  request: Pick<ModelRequest, "messages" | "tools" | "withheldTools" | "settings"> & { origin: string },
): Adaptation {
  if (error instanceof PiecesError) return { ...known, unstreamed: true };
  const refusal = readRefusal(error);
  if (refusal === null) return known;
  const { status = 500, text } = refusal;
  const isInvalid = status === 400 || status === 422;
  // llama-cpp-python answers 500 with the text of its validation. Of such errors only unmistakable words count.
  if (!isInvalid && status < 500) return known;
  const isUnwanted = (field: string) =>
    isInvalid &&
    UNWANTED.test(text) &&
    text.split(/[^\w-]+/).includes(field) &&
    !known.unwantedFields.includes(field);
  const refused = isInvalid ? findRefusedSetting(refusal, settingParameters(request, known)) : [];
  return {
    ...known,
    refusedSettings: [...known.refusedSettings, ...refused].slice(-MAX_REFUSED_SETTINGS),
    unwantedFields: [
      ...known.unwantedFields,
      ...namesOfState(request.messages, request.origin).filter(isUnwanted),
    ],
    oldTokenLimit: known.oldTokenLimit || text.includes("max_completion_tokens"),
    schemaInPrompt: known.schemaInPrompt || /response_format|json_schema/.test(text),
    // Bedrock and Anthropic behind LiteLLM: "expects the `tools=` param" (langgenius/dify-official-plugins#2063).
    toolsAlways: known.toolsAlways || (hasWithheld(request) && /tool|function/i.test(text)),
    unstreamed: known.unstreamed || (isInvalid && /\bstream/.test(text)),
  };
}

/** How servers refuse a field; Groq in karthink/gptel#774, Mistral in charmbracelet/crush#1590. */
const UNWANTED =
  /unsupported|not supported|not permitted|not allowed|forbidden|unknown|unrecogni[sz]ed|unexpected|additional propert/i;

const hasWithheld = ({ messages, withheldTools = [] }: Pick<ModelRequest, "messages" | "withheldTools">) =>
  withheldTools.length > 0 && messages.some(({ role }) => role === "tool");

/** `modelOptions` comes first, so that it replaces no other setting. */
const parametersOf = (settings: ModelSettings): Record<string, unknown> => ({
  ...settings.modelOptions,
  temperature: settings.temperature,
  top_p: settings.topP,
  reasoning_effort: settings.reasoningEffort,
  verbosity: settings.verbosity,
  parallel_tool_calls: settings.parallelToolCalls,
});

const MAX_REFUSED_SETTINGS = 50;
const withValue = (name: string, value: unknown) => `${name}=${JSON.stringify(value)}`.slice(0, 200);

/** The parameters of a request's settings, without those that the model refuses. */
export function settingParameters(
  { settings = {}, tools }: Pick<ModelRequest, "settings" | "tools">,
  { refusedSettings }: Pick<Adaptation, "refusedSettings">,
): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(parametersOf(settings)).filter(
      ([name, value]) =>
        value !== undefined &&
        !refusedSettings.includes(withValue(name, value)) &&
        // Without tools, servers refuse it.
        (name !== "parallel_tool_calls" || tools.length > 0),
    ),
  );
}

/** The setting that an error is about: that of its field `param`, else the first one in its text. */
function findRefusedSetting({ text, parameter }: Refusal, sent: Record<string, unknown>): string[] {
  const words = [parameter, ...text.split(/\W+/)];
  const name = words.find((word) => word !== undefined && Object.hasOwn(sent, word));
  return name === undefined ? [] : [withValue(name, sent[name])];
}

export const isSame = (one: Adaptation, other: Adaptation): boolean => isDeepStrictEqual(one, other);

/**
 * The output limit with which a request that asked for too much can be repeated, from the texts of OpenAI ("supports at
 * most 16384 completion tokens"; "maximum context length is 8192 tokens … (1000 in the messages, 32000 in the
 * completion)") and vLLM ("maximum context length is 8192 tokens and your request has 1000 input tokens"). `isModels`: it
 * holds for every request. Null if the error is about something else.
 */
export function readOutputMaximum(
  error: unknown,
  asked: Pick<ModelRequest, "maxOutputTokens">,
): { maximum: number; isModels: boolean } | null {
  const refusal = readRefusal(error);
  if (refusal === null || (refusal.status !== 400 && refusal.status !== 422)) return null;
  const { text } = refusal;
  const window = numberIn(/maximum context length (?:is|of) (\d[\d,]*)/i, text);
  const input = numberIn(/(\d[\d,]*) (?:input tokens|in the messages|of text input|prompt tokens)/i, text);
  const isAboutOutput = /max_(?:completion_|output_|new_)?tokens|completion tokens|output tokens/i.test(text);
  const most = isAboutOutput
    ? numberIn(
        /(?:at most|maximum (?:value|allowed|of|is)(?: is)?|less than or equal to|<=|≤) ?`?(\d[\d,]*)/i,
        text,
      )
    : null;
  const maximum = window !== null && input !== null ? window - input : window === null ? most : null;
  if (maximum === null || maximum < 1 || maximum >= asked.maxOutputTokens) return null;
  return { maximum, isModels: window === null };
}

function numberIn(pattern: RegExp, text: string): number | null {
  const found = pattern.exec(text)?.[1];
  return found === undefined ? null : Number(found.replaceAll(",", ""));
}
