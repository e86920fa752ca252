import type { JsonObject } from "@/server/base/json/json";
import { KIB, MIB } from "@/server/contract/sizes";
import type { ModelFacts } from "./catalog/model-facts";
import type { ModelSettings } from "./settings";

/** A call that the model requested; `arguments` is its raw text. */
export type ToolCall = { id: string; name: string; arguments: string };

/**
 * A provider's own data in a reply, such as signatures. It goes back unchanged with the message, to the same
 * provider and model.
 */
export type ProviderState = string;

export type ModelMessage =
  | { role: "system"; content: string }
  | { role: "user"; content: string }
  | { role: "assistant"; content: string; toolCalls: ToolCall[]; state?: ProviderState | null }
  | { role: "tool"; toolCallId: string; content: string };

/** A function or tool offered to the model; `parameters` is a JSON Schema. */
export type OfferedTool = { name: string; description: string; parameters: JsonObject };

export type ModelRequest = {
  model: string;
  /** A provider's limits slow down the calls of one organization. Unset: the call waits for no other. */
  organizationId?: string | undefined;
  messages: ModelMessage[];
  /** Empty: the model must answer with text. */
  tools: OfferedTool[];
  /** Tools of earlier calls that may not be called now: some servers need them beside the results of such calls. */
  withheldTools?: OfferedTool[] | undefined;
  /** The run's credit hold pays for them. */
  maxOutputTokens: number;
  settings?: ModelSettings | undefined;
  /**
   * Reserves credits for one repeat of a call that was cut off at its limit, and returns the repeat's limit. There
   * is no repeat if it is not larger.
   */
  raiseLimit?: ((cutOff: CutOff) => Promise<number>) | undefined;
  /** Requests JSON instead of free text, when the model answers without a call. */
  responseSchema?: JsonObject | undefined;
  signal: AbortSignal;
  /** Providers of organizations call it with the bytes of a large response before it is read. */
  holdResponse?: (bytes: number) => Promise<void>;
  /**
   * Called for each piece of the text; it restarts after a failed attempt. `readText` gives the complete text so
   * far: call it only for texts that are shown, because secrets are removed then.
   */
  onText?: (readText: () => string) => void;
  /** Called with all attempts so far before the delay of the next one, and before and after a wait for others. */
  onRetry?: (attempts: Attempt[]) => Promise<void>;
};

/**
 * A cut-off answer: the usage of its attempt, and of all attempts so far. `maximum`: the model's most output
 * tokens, infinite if unknown.
 */
export type CutOff = { last: ModelUsage; total: ModelUsage; maximum: number };

/** One attempt of a step or model call. Times are ISO 8601, durations milliseconds. */
export type Attempt = {
  startedAt: string;
  durationMs: number;
  /** Null if the attempt did not fail. */
  error: string | null;
  /** Absent for the last attempt. */
  retryAt?: string | undefined;
  console?: string[] | undefined;
  /** For people, such as that numbers became texts. */
  notes?: string[] | undefined;
  changes?: string[] | undefined;
  shortened?: Shortening[] | undefined;
  /** As the provider reported it: JSON of at most 4 KiB. */
  usage?: string | undefined;
  provider?: string | undefined;
  model?: string | undefined;
  /** No attempt: the call waited because the provider allows no more calls. With `retryAt`, it still waits. */
  waited?: true | undefined;
};

/** The outputs of functions before the message of this index were cut to their first `keep` bytes. */
export type Shortening = { before: number; keep: number };

export type ModelUsage = {
  inputTokens: number;
  outputTokens: number;
  /** Input tokens that were read from the provider's cache, and written to it. Unset: none. */
  cachedInputTokens?: number;
  cacheWriteTokens?: number;
  reasoningTokens?: number;
  /** A part was counted with a tokenizer because the provider reported no usage. */
  estimated: boolean;
};

export type ModelReply = {
  content: string;
  reasoning: string;
  /** At most 256 KiB. */
  state: ProviderState | null;
  /** At most 128, and one that represents all others: see `limitCalls`. */
  toolCalls: ToolCall[];
  finishReason: string | null;
  /** Of all attempts; an interrupted one counts with its received output. */
  usage: ModelUsage;
  provider: string;
  attempts: Attempt[];
};

/** The flaw of an answer that is not usable: cut off at the limit, declined or filtered, or empty. */
export type AnswerFlaw = "truncated" | "declined" | "empty";

/** The reason of a failed model call; `rejected` is about the request, `unavailable` after all retries. */
export type ModelErrorReason =
  | "unauthorized"
  | "unknown"
  | "quota"
  | "input_too_long"
  | "rejected"
  | "unavailable"
  | AnswerFlaw;

/**
 * The output of a call before it was interrupted; providers charge for it. `content`: of the last attempt that
 * started to reply. `usage`: the sum of all.
 */
export type ReceivedOutput = { content: string; usage: ModelUsage };

/** A model call that failed finally. `attempts` lists the attempts. `received`: null before any output or usage. */
export class ModelError extends Error {
  readonly reason: ModelErrorReason;
  /** Another model may be called: this one is unknown, or its provider does not answer. */
  readonly fallsBack: boolean;
  readonly attempts: Attempt[];
  readonly received: ReceivedOutput | null;

  constructor(
    message: string,
    options: {
      reason: ModelErrorReason;
      fallsBack?: boolean;
      attempts: Attempt[];
      received?: ReceivedOutput | null;
      cause?: unknown;
    },
  ) {
    super(message, { cause: options.cause });
    this.name = "ModelError";
    this.reason = options.reason;
    this.fallsBack = options.fallsBack ?? false;
    this.attempts = options.attempts;
    this.received = options.received ?? null;
  }
}

/** A model call whose signal was aborted after output or usage had arrived; `cause` is the signal's reason. */
export class ModelCallStopped extends Error {
  readonly attempts: Attempt[];
  readonly received: ReceivedOutput;

  constructor(options: { attempts: Attempt[]; received: ReceivedOutput; cause: unknown }) {
    super("the model call was stopped after output had started", { cause: options.cause });
    this.name = "ModelCallStopped";
    this.attempts = options.attempts;
    this.received = options.received;
  }
}

/** Withheld tools count if no others are offered. */
export type Prompt = Pick<ModelRequest, "messages" | "tools" | "withheldTools" | "responseSchema">;

/** The tools of a request that has withheld tools only if they are sent. */
export const sentTools = ({ tools, withheldTools = [] }: Prompt): readonly OfferedTool[] =>
  tools.length > 0 ? tools : withheldTools;

/** A model that a provider offers; the context window is in tokens, if the provider states it. */
export type ListedModel = { name: string; contextWindow: number | undefined };

/**
 * The models that a provider offers. `problem`: the reason why it does not list them; then they come from the
 * catalog.
 */
export type Offer = { models: readonly ListedModel[]; problem: string | null };

export type Models = {
  /**
   * Retries temporary errors. Throws ModelError. When aborted, throws ModelCallStopped if output had started, else
   * the signal's reason.
   */
  call(request: ModelRequest): Promise<ModelReply>;
  providerOf(model: string): string;
  factsOf(model: string): Promise<ModelFacts>;
  /** The models that providers list, and the demo model. The default provider may serve more. */
  listed: readonly string[];
  /** At most some minutes old. */
  listOffered(): Promise<Offer>;
  boundTokens(request: Prompt): number;
  countTokens(request: Prompt): Promise<number>;
};

// Bounds of one reply: everything from a provider is bounded in size and number.

/** One line or event of a stream, in characters. */
export const MAX_EVENT_LENGTH = MIB;
/** All text, reasoning and arguments of one reply, in characters. */
export const MAX_REPLY_LENGTH = 8 * MIB;
/** A larger state is left out. */
export const MAX_STATE_BYTES = 256 * KIB;
export const MAX_EXECUTED_CALLS = 32;
/** The calls of one reply that become steps; one more step represents the rest. */
export const MAX_RECORDED_CALLS = 128;

/** The name of the call that represents all calls beyond MAX_RECORDED_CALLS; its arguments are `{"count": N}`. */
export const FURTHER_CALLS = "further_calls";

/** The name of a call that cannot be read; its arguments are `{"problem": …, "call": …}`. */
export const UNREADABLE_CALL = "unreadable_call";

/**
 * Cuts the calls of a reply to the first 128 and one that represents the rest; idempotent. @param further The
 * number of later calls that were discarded.
 */
export function limitCalls(calls: readonly ToolCall[], further = 0): ToolCall[] {
  if (calls.length + further <= MAX_RECORDED_CALLS) return [...calls];
  const [summary] = calls.slice(MAX_RECORDED_CALLS);
  if (summary?.name === FURTHER_CALLS && calls.length === MAX_RECORDED_CALLS + 1) return [...calls];
  const recorded = calls.slice(0, MAX_RECORDED_CALLS);
  const taken = new Set(recorded.map(({ id }) => id));
  let id = summary?.id ?? FURTHER_CALLS;
  while (taken.has(id)) id = `${id}_`;
  const count = calls.length - recorded.length + further;
  return [...recorded, { id, name: FURTHER_CALLS, arguments: JSON.stringify({ count }) }];
}
