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
};

export type ModelReply = {
  content: string;
  toolCalls: ToolCall[];
  finishReason: string | null;
  usage: {
    inputTokens: number;
    outputTokens: number;
    /** True when the provider gave no usage and the tokens were counted here with a tokenizer. */
    estimated: boolean;
  };
  provider: string;
  attempts: Attempt[];
};

/**
 * What a model call failed by: the provider's key, the model's name, the account's own quota, the length of the
 * conversation, another refusal, or the network and the provider's load (which outlived every retry).
 */
export type ModelFault = "unauthorized" | "unknown" | "quota" | "input_too_long" | "refused" | "unavailable";

/** Why a model call failed for good; `attempts` lists the tries. */
export class ModelError extends Error {
  readonly reason: ModelFault;
  readonly attempts: Attempt[];

  constructor(message: string, options: { reason: ModelFault; attempts: Attempt[]; cause?: unknown }) {
    super(message, { cause: options.cause });
    this.name = "ModelError";
    this.reason = options.reason;
    this.attempts = options.attempts;
  }
}

/** What the rest of the server knows of models. */
export type Models = {
  /** Calls the model; retries passing faults; throws ModelError, or the signal's reason when aborted. */
  call(request: ModelRequest): Promise<ModelReply>;
  /** The name of the provider that would serve this model, `demo` for the built-in simulation. */
  providerOf(model: string): string;
  /** A quick upper bound for the tokens of a request. */
  boundTokens(request: Pick<ModelRequest, "messages" | "tools">): number;
  /** Counts the tokens of a request with a tokenizer. */
  countTokens(request: Pick<ModelRequest, "messages" | "tools">): Promise<number>;
};
