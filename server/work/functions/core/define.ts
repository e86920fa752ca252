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
   * Like the standard fetch. `basicAuth` is sent as `Authorization: Basic …`, encoded after its secrets were
   * inserted. With `isRepeatable`, a request whose connection breaks may be sent again, whatever its method.
   */
  fetch(
    url: string | URL,
    init?: RequestInit & {
      basicAuth?: { username: string; password: string };
      isRepeatable?: boolean;
      onBodyDropped?: (status: number) => void;
    },
  ): Promise<Response>;
  redact(value: Json): Promise<Json>;
  /** Stable over retries and crashes of the same step; sent along with unsafe outbound calls. */
  idempotencyKey: string;
  /** The header `traceparent` for outbound calls; null: the operator exports no traces. */
  traceParent: string | null;
  /** Sandboxes and other scarce resources are shared out by organization. */
  organizationId: string;
  /** Hold memory for the value of a large text before you parse it. */
  memory: StepMemory;
  /** Calls a model at the run's expense. Ends with the function's time limit. */
  callModel(
    request: Omit<ModelRequest, "signal" | "maxOutputTokens"> & {
      maxOutputTokens?: number | undefined;
      fallbackModels?: readonly string[] | undefined;
    },
    signal?: AbortSignal,
  ): Promise<Pick<ModelReply, "content" | "state" | "toolCalls">>;
  defaultModel: string;
  values: KeyValues;
  /** Null: the operator has no SMTP server. */
  sendMail: SendMail | null;
  /** Lines that the caller's own code prints. */
  print(lines: readonly string[]): void;
  /** Tells people what happened to the input. The same text is shown once. */
  note(text: string): void;
};

/** The language in which a text or an object of a function's input is parsed. */
export type ParsedField = "expression" | "schema" | "arithmetic" | "script";

type EngineCall = "wait" | "tool" | "agent";

/** One built-in action, for agents and tools. What `run` throws fails the step with the error's message. */
export type FunctionDefinition<
  Input extends z.ZodType = z.ZodType,
  Output extends z.ZodType<Json> = z.ZodType<Json>,
> = {
  name: string;
  title: string;
  description: string;
  input: Input;
  output: Output;
  /** Codes with their meaning, besides those of all functions (docs/functions.md). */
  errors: Readonly<Record<string, string>>;
  /** Limits besides the input's schema and `timeoutMs`, for the docs. */
  limits?: readonly string[];
  callsModels?: true;
  hasSideEffects: boolean;
  timeoutMs: number;
  /** Fields of the input in which a definition may refer to secrets; none by default. */
  secretFields?: readonly string[];
  /** Fields that are addresses: a secret may be in the path or query, behind a host that is written out. */
  addressFields?: readonly string[];
  /** Fields of the input that hold an expression, a JSON Schema or code: checked when a definition is saved. */
  parsedFields?: Readonly<Record<string, ParsedField>>;
  /** Called when a definition is saved: any value may be wrong or hold `{{ }}`. */
  findIssues?(input: JsonObject): Issue[];
  example: { input: z.input<Input>; output: z.output<Output> };
  /** The engine itself executes calls that start runs or leave the run's slot. */
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

// Not invalid_expression and invalid_html: they may come from a time limit.
const FINAL_CODES = new Set([
  "invalid_input",
  "invalid_request",
  "invalid_csv",
  "invalid_schema",
  "unknown_timezone",
  "value_too_large",
  "call_rejected",
  "not_configured",
  "too_deep",
]);

/** Returns true if a retry cannot fix this failure. */
export const isFinal = (code: string) => FINAL_CODES.has(code);

/**
 * A failure of a call. `code` is one of the function's `errors` or common to all functions (docs/functions.md). The
 * message is for people and models.
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
export function failAs<Kind extends Error>(
  kind: new (...args: never[]) => Kind,
  code: string | ((error: Kind) => string),
): (error: unknown) => never {
  return (error) => {
    if (!(error instanceof kind)) throw error;
    throw new FunctionError(typeof code === "string" ? code : code(error), error.message, { cause: error });
  };
}

/** The code of what a function threw; `failed` when it has none. */
export function codeOfFailure(error: unknown): string {
  return error instanceof FunctionError ? error.code : "failed";
}
