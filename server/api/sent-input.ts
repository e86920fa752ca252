import { AppError } from "@/server/base/errors";
import type { Json } from "@/server/base/json/json";
import { findExcess, JsonTextError, MAX_JSON_DEPTH, parseJson } from "@/server/base/json/text";

// Parsing and checking this many takes some hundredths of a second, in which the process answers no other
// call.
const MAX_CALL_VALUES = 20_000;

/** Checks the depth and number of values of a dashboard call's JSON. Throws `invalid_request`. */
export function checkSentText(text: string): void {
  const excess = findExcess(text, { depth: MAX_JSON_DEPTH, values: MAX_CALL_VALUES });
  if (excess === null) return;
  const reason =
    excess === "depth"
      ? `is nested deeper than ${MAX_JSON_DEPTH} levels`
      : `has more than ${MAX_CALL_VALUES} values`;
  throw new AppError("invalid_request", `The input ${reason}.`);
}

/** The input that a page sent with `toSent`. Throws `invalid_request`. */
export function readSent(sent: string): Json {
  checkSentText(sent);
  try {
    return parseJson(sent);
  } catch (error) {
    if (!(error instanceof JsonTextError)) throw error;
    throw new AppError("invalid_request", `The input is not valid: ${error.message}`, { cause: error });
  }
}
