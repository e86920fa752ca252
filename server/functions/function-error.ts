/** Codes of calls that fail again when they are repeated. */
const FINAL_CODES = new Set(["invalid_input", "invalid_request", "call_refused"]);

/** Whether a call with this failure is not retried. */
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
