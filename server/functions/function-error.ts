/** Codes that every function may fail with, beside those of its own `errors`. */
export const COMMON_ERRORS = {
  invalid_input: "The input does not match the function's schema. The call is not retried.",
  timeout: "The call takes longer than its time limit.",
  input_too_large: "The inputs of a tool run's calls are larger than 16 MiB together.",
  output_too_large: "The output exceeds a size limit of steps.",
  failed: "The call fails for another reason; the message names it.",
} as const;

/** Codes of calls that fail again when they are repeated. */
const FINAL_CODES = new Set(["invalid_input", "invalid_request", "call_refused"]);

/** Whether a call with this failure is not retried. */
export const isFinal = (code: string) => FINAL_CODES.has(code);

/** A failure of a call. `code` is one of the function's `errors` or of COMMON_ERRORS; the message is meant for people and models. */
export class FunctionError extends Error {
  override name = "FunctionError";
  readonly code: string;

  constructor(code: string, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}

/** Turns errors of one class into a failure with this code, for `catch`; `describe` completes their messages. */
export function failAs(
  kind: new (...args: never[]) => Error,
  code: string,
  describe = (message: string) => message,
): (error: unknown) => never {
  return (error) => {
    if (!(error instanceof kind)) throw error;
    throw new FunctionError(code, describe(error.message), { cause: error });
  };
}

/** The code of what a function threw; `failed` when it has none. */
export function codeOfFailure(error: unknown): string {
  return error instanceof FunctionError ? error.code : "failed";
}
