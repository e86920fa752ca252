import { AppError } from "@/server/base/errors";
import type { Json } from "@/server/base/json/json";
import { FORM_TYPE } from "@/server/contract/media-types";
import { KIB } from "@/server/contract/sizes";
import { mediaTypeOf } from "./call-body";
import { valueAt } from "./event-id";
import type { Sender } from "./presets";

export type VerificationAnswer = { contentType: string; body: string };

const MAX_ECHO_LENGTH = 500;
const MAX_FORM_CHECK_BYTES = KIB;

/** The answer to a GET or HEAD request of a sender that checks the address so. Throws `invalid_request`. */
export function answerVerification(
  { verification }: Sender,
  { query }: { query: string },
): VerificationAnswer {
  const echo = verification?.echo;
  const text = echo === undefined ? "" : new URLSearchParams(query).get(echo);
  if (text === null || !isEcho(text)) {
    throw new AppError("invalid_request", `The query parameter ${echo} is missing or not valid.`);
  }
  return { contentType: "text/plain; charset=utf-8", body: text };
}

/** The answer to a call that checks the address; null for any other call. */
export function answerChallenge({ challenge }: Sender, body: Json): VerificationAnswer | null {
  if (!challenge || valueAt(body, challenge.at) !== challenge.equals) return null;
  const text = valueAt(body, challenge.echo);
  if (typeof text !== "string" || !isEcho(text)) {
    throw new AppError("invalid_request", `The body has no ${challenge.echo.slice(1)}.`);
  }
  return { contentType: "text/plain; charset=utf-8", body: text };
}

/**
 * The answer to an unsigned form that checks the address; null for any other call. A form with any other field may
 * carry an event, so it must be signed.
 */
export function answerFormCheck(
  { formCheck }: Sender,
  { body, contentType }: { body: Uint8Array; contentType: string | null },
): VerificationAnswer | null {
  if (!formCheck || mediaTypeOf(contentType) !== FORM_TYPE || body.length > MAX_FORM_CHECK_BYTES) return null;
  const fields = [...new URLSearchParams(Buffer.from(body).toString("utf8"))];
  const [found, ...others] = fields.filter(([name]) => name !== formCheck.beside);
  const isCheck = found?.[0] === formCheck.field && found[1] === formCheck.equals && others.length === 0;
  return isCheck ? { contentType: "text/plain; charset=utf-8", body: "" } : null;
}

function isEcho(text: string): boolean {
  return text.length <= MAX_ECHO_LENGTH && /^[\x20-\x7e]*$/.test(text);
}
