import type { z } from "zod";
import type { Clock } from "@/server/base/clock";
import type { Issue } from "@/server/base/errors";
import type { Json, JsonObject } from "@/server/base/json/json";
import type { StepMemory } from "@/server/guard/limits/process-memory";
import type { SendMail } from "@/server/guard/mail/message";
import type { KeyValues } from "@/server/work/functions/core/value-limits";
import type { ModelReply, ModelRequest } from "@/server/work/models/port";

/** The context of a function. Everything that needs the database is passed in here. */
export type FunctionContext = {
  /** Fires when the run is cancelled, its deadline passes or the function's time is up. */
  signal: AbortSignal;
  clock: Clock;
  /**
   * Fetches external addresses, like the standard fetch. `basicAuth` is sent as `Authorization: Basic …`, encoded after its
   * secrets were inserted.
   */
  fetch(
    url: string | URL,
    init?: RequestInit & { basicAuth?: { username: string; password: string } },
  ): Promise<Response>;
  /** Removes the run's secrets from a value, for expressions. Outputs and errors are redacted anyway. */
  redact(value: Json): Promise<Json>;
  /** Stable over retries and crashes of the same step; sent along with unsafe outbound calls. */
  idempotencyKey: string;
  /** The run's organization: sandboxes and other scarce resources are shared out by organization. */
  organizationId: string;
  /** Hold memory for the value of a large text before you parse it. */
  memory: StepMemory;
  /** Calls a model at the run's expense. Ends with the function's time limit. */
  callModel(
    request: Omit<ModelRequest, "signal" | "maxOutputTokens"> & {
      maxOutputTokens?: number | undefined;
      /** Called in turn if the model does not answer. */
      fallbackModels?: readonly string[] | undefined;
    },
    signal?: AbortSignal,
  ): Promise<Pick<ModelReply, "content" | "state" | "toolCalls">>;
  /** The agent's model, or the configured default; for functions whose input names none. */
  defaultModel: string;
  /** The values that the organization stores between runs. */
  values: KeyValues;
  /** Sends an e-mail through the operator's SMTP server; null: there is none. */
  sendMail: SendMail | null;
  /** Records console output of the call; it is shown with the step. */
  print(lines: readonly string[]): void;
};

/** The language in which a text or an object of a function's input is parsed. */
export type ParsedField = "expression" | "schema" | "arithmetic" | "script";

/** A call that the engine executes: it waits, or runs a tool or an agent as a child run. */
type EngineCall = "wait" | "tool" | "agent";

/** One built-in action, for agents and tools. What `run` throws fails the step with the error's message. */
export type FunctionDefinition<
  Input extends z.ZodType = z.ZodType,
  Output extends z.ZodType<Json> = z.ZodType<Json>,
> = {
  /** As models and definitions call it. */
  name: string;
  title: string;
  /** One or two sentences for models, the dashboard and the docs. */
  description: string;
  input: Input;
  output: Output;
  /** The codes of a call's failures with their meaning, beside those of all functions (docs/functions.md). */
  errors: Readonly<Record<string, string>>;
  /** Limits beside the input's schema and `timeoutMs`, for the docs. */
  limits?: readonly string[];
  /** True if a call costs, beside one action, the tokens of the model calls it makes. */
  callsModels?: true;
  /** True if a call may change something outside the run. Such calls carry the step's idempotency key. */
  hasSideEffects: boolean;
  /** Wall-clock limit of one call, in milliseconds. */
  timeoutMs: number;
  /** Fields of the input in which a definition may refer to secrets; none when unset. */
  secretFields?: readonly string[];
  /** The fields that are addresses: a secret is in the path or query, behind a host that is written out. */
  addressFields?: readonly string[];
  /** Fields of the input that hold an expression, a JSON Schema or code: checked when a definition is saved. */
  parsedFields?: Readonly<Record<string, ParsedField>>;
  /** Issues that the schema cannot express, when a definition is saved: any value may be wrong or hold `{{ }}`. */
  findFaults?(input: JsonObject): Issue[];
  /** A call with its output, for the docs; a test checks it. */
  example: { input: z.input<Input>; output: z.output<Output> };
  /** Executes a call. The engine itself executes what starts runs or leaves the run's slot. */
  run:
    | ((input: z.output<Input>, context: FunctionContext) => Promise<z.output<Output>>)
    | { engine: EngineCall };
};

/** Declares a function; exists for the inference of its input and output types. */
export function defineFunction<Input extends z.ZodType, Output extends z.ZodType<Json>>(
  definition: FunctionDefinition<Input, Output>,
): FunctionDefinition<Input, Output> {
  return definition;
}

/** Codes of failures that a retry cannot fix. */
const FINAL_CODES = new Set(["invalid_input", "invalid_request", "call_refused"]);

/** Returns true if a retry cannot fix this failure. */
export const isFinal = (code: string) => FINAL_CODES.has(code);

/**
 * A failure of a call. `code` is one of the function's `errors` or common to all functions (docs/functions.md). The
 * message is meant for people and models.
 */
export class FunctionError extends Error {
  override name = "FunctionError";
  readonly code: string;

  constructor(code: string, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}

/** Turns errors of one class into a failure with this code, for `catch`. */
export function failAs(kind: new (...args: never[]) => Error, code: string): (error: unknown) => never {
  return (error) => {
    if (!(error instanceof kind)) throw error;
    throw new FunctionError(code, error.message, { cause: error });
  };
}

/** The code of what a function threw; `failed` when it has none. */
export function codeOfFailure(error: unknown): string {
  return error instanceof FunctionError ? error.code : "failed";
}
