import type { JsonObject } from "@/server/json";

/** A call of a function or tool that the model asked for; `arguments` is the raw text it wrote. */
export type ToolCall = { id: string; name: string; arguments: string };

/** One message of a conversation, as every chat model understands it. */
export type ModelMessage =
  | { role: "system"; content: string }
  | { role: "user"; content: string }
  | { role: "assistant"; content: string; toolCalls: ToolCall[] }
  | { role: "tool"; toolCallId: string; content: string };

/** A function or tool offered to the model; `parameters` is a JSON Schema. */
export type OfferedTool = { name: string; description: string; parameters: JsonObject };

export type ModelRequest = {
  model: string;
  messages: ModelMessage[];
  /** Empty: the model must answer in text. */
  tools: OfferedTool[];
  /** Most output tokens; what the run's credit hold covers. */
  maxOutputTokens: number;
  /** Asks for JSON of this schema instead of free text. */
  responseSchema?: JsonObject;
  signal: AbortSignal;
  /** Told what the model has said so far, while it goes on; from the beginning again after a try that failed. */
  onText?: (text: string) => void;
  /** Told of all tries so far before another one is waited for. */
  onRetry?: (attempts: Attempt[]) => Promise<void>;
};

/** One try of a step or at a provider. Times are ISO 8601, durations milliseconds. */
export type Attempt = {
  startedAt: string;
  durationMs: number;
  /** Why it failed; null when it did not. */
  error: string | null;
  /** When the next try was to begin, after one that was not the last. */
  retryAt?: string | undefined;
  /** What a script printed. */
  console?: string[] | undefined;
};

export type ModelUsage = {
  inputTokens: number;
  outputTokens: number;
  /** True when at least a part was counted here with a tokenizer because the provider reported no usage. */
  estimated: boolean;
};

export type ModelReply = {
  content: string;
  /** At most 128, and one that stands for all further ones: see `limitCalls`. */
  toolCalls: ToolCall[];
  finishReason: string | null;
  /** What all attempts together used; one that broke off counts with what was received. */
  usage: ModelUsage;
  provider: string;
  attempts: Attempt[];
};

/**
 * What a model call failed by: the provider's key, the model's name, the account's own quota, the length of the
 * conversation, another refusal, or the network and the provider's load (which outlived every retry).
 */
export type ModelFault = "unauthorized" | "unknown" | "quota" | "input_too_long" | "refused" | "unavailable";

/**
 * What a call received before it broke off: providers charge for it, so the run is charged as well. `content` is the text
 * of the last attempt that began to answer; `usage` sums all attempts that did.
 */
export type ReceivedOutput = { content: string; usage: ModelUsage };

/** Why a model call failed for good; `attempts` lists the tries, `received` is null when no output had begun. */
export class ModelError extends Error {
  readonly reason: ModelFault;
  readonly attempts: Attempt[];
  readonly received: ReceivedOutput | null;

  constructor(
    message: string,
    options: {
      reason: ModelFault;
      attempts: Attempt[];
      received?: ReceivedOutput | null;
      cause?: unknown;
    },
  ) {
    super(message, { cause: options.cause });
    this.name = "ModelError";
    this.reason = options.reason;
    this.attempts = options.attempts;
    this.received = options.received ?? null;
  }
}

/** A model call whose signal was aborted after output had begun; `cause` is the signal's reason. */
export class ModelCallStopped extends Error {
  readonly attempts: Attempt[];
  readonly received: ReceivedOutput;

  constructor(options: { attempts: Attempt[]; received: ReceivedOutput; cause: unknown }) {
    super("the model call was stopped after output had begun", { cause: options.cause });
    this.name = "ModelCallStopped";
    this.attempts = options.attempts;
    this.received = options.received;
  }
}

/** What the rest of the server knows of models. */
export type Models = {
  /**
   * Calls the model; retries passing faults. Throws ModelError. When aborted, throws ModelCallStopped if output had begun,
   * else the signal's reason itself.
   */
  call(request: ModelRequest): Promise<ModelReply>;
  /** The name of the provider that would serve this model, `demo` for the built-in simulation. */
  providerOf(model: string): string;
  /** A quick upper bound for the tokens of a request. */
  boundTokens(request: Pick<ModelRequest, "messages" | "tools">): number;
  /** Counts the tokens of a request with a tokenizer. */
  countTokens(request: Pick<ModelRequest, "messages" | "tools">): Promise<number>;
};
