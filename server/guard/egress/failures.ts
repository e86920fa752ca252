import { causesOf, codeOf } from "@/server/base/errors";

/** Thrown if an outbound call did not happen or did not end well. The message may be shown to anyone. */
export class EgressError extends Error {
  override name = "EgressError";
}

/** The call is not allowed: its address is not public, or a secret may not be sent there. A retry changes nothing. */
export class RejectedError extends EgressError {}

/** A response beyond the size limit; a retry would not make it smaller. */
export class ResponseTooLarge extends EgressError {
  override name = "ResponseTooLarge";

  constructor(maxBytes: number) {
    super(`The response is larger than ${maxBytes} bytes.`);
  }
}

/** The network or the server failed; another attempt may succeed. */
export class NetworkError extends EgressError {}

const CODES: Record<string, string> = {
  ENOTFOUND: "the host name is unknown",
  EAI_AGAIN: "the host name did not resolve",
  ECONNREFUSED: "the connection was refused",
  ECONNRESET: "the connection was reset",
  EHOSTUNREACH: "the host cannot be reached",
  ENETUNREACH: "the network cannot be reached",
  ETIMEDOUT: "the connection timed out",
  UND_ERR_CONNECT_TIMEOUT: "the connection timed out",
  UND_ERR_HEADERS_TIMEOUT: "no response in time",
  UND_ERR_BODY_TIMEOUT: "the response stopped",
  UND_ERR_SOCKET: "the connection was closed",
  UND_ERR_HEADERS_OVERFLOW: "its headers are too large",
  CERT_HAS_EXPIRED: "its certificate has expired",
  DEPTH_ZERO_SELF_SIGNED_CERT: "its certificate is self-signed",
  ERR_TLS_CERT_ALTNAME_INVALID: "its certificate is for another host",
};

/** The reason that may be shown: an EgressError of ours, or the network's innermost message. */
export function explainFailure(error: unknown, host: string): EgressError {
  const causes = causesOf(error);
  const known = causes.find((cause) => cause instanceof EgressError);
  if (known !== undefined) return known;
  const cause = causes.at(-1);
  // Fetch has no code for it (Fetch standard, section "Port blocking").
  if (cause?.message === "bad port")
    return new RejectedError(
      `The call to ${host} is not allowed: fetch blocks its port, because another protocol such as e-mail uses it.`,
    );
  const reason = CODES[codeOf(cause)] ?? cause?.message ?? "unknown error";
  return new NetworkError(`The call to ${host} failed: ${reason.slice(0, 300)}.`, { cause: error });
}

export const isUnknownHost = (failure: EgressError) =>
  failure instanceof NetworkError && causesOf(failure).some((cause) => codeOf(cause) === "ENOTFOUND");

/**
 * The error for a name that no name server knows. `entry` is the `host:port`. Only names in EGRESS_ALLOW are also
 * resolved by the system.
 */
export const unknownHostError = (failure: EgressError, entry: string) =>
  new NetworkError(
    `${failure.message} Check its spelling. If only the service's own machine or network knows it, the operator sets ` +
      `EGRESS_ALLOW=${entry}`,
    { cause: failure.cause },
  );

/** The time that a server asks to wait, in milliseconds (RFC 9110, section 10.2.3, and OpenAI's `retry-after-ms`). */
export function retryAfterMs(headers: Headers | undefined, now: Date): number | undefined {
  const text = headers?.get("retry-after")?.trim() ?? "";
  const exact = Number(headers?.get("retry-after-ms") || Number.NaN);
  const seconds = Number(text || Number.NaN);
  const wait = [exact, seconds * 1000, Date.parse(text) - now.getTime()].find(Number.isFinite);
  return wait === undefined ? undefined : Math.max(0, wait);
}
