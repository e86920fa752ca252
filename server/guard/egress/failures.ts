import { causesOf, codeOf } from "@/server/base/errors";
import { formatLimit } from "@/server/contract/sizes";

/**
 * "rejected": the call is not allowed, because its address is not public or a secret may not be sent there.
 * "not_public": a name leads to such an address; `privateAddressError` explains it. "too_large": the response is beyond
 * the size limit. "network": the network or the server failed; only here another attempt may succeed. "other": time
 * limits and redirects.
 */
type EgressKind = "rejected" | "not_public" | "too_large" | "network" | "other";

/** Thrown if an outbound call did not happen or did not end well. The message may be shown to anyone. */
export class EgressError extends Error {
  override name = "EgressError";
  readonly kind: EgressKind;

  constructor(message: string, { kind = "other", cause }: { kind?: EgressKind; cause?: unknown } = {}) {
    super(message, { cause });
    this.kind = kind;
  }
}

export const rejectedCall = (message: string) => new EgressError(message, { kind: "rejected" });

export const responseTooLarge = (maxBytes: number) =>
  new EgressError(`The response is larger than ${formatLimit(maxBytes)}.`, { kind: "too_large" });

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
    return rejectedCall(
      `The call to ${host} is not allowed: fetch blocks its port, because another protocol such as email uses it.`,
    );
  const reason = CODES[codeOf(cause)] ?? cause?.message ?? "unknown error";
  return new EgressError(`The call to ${host} failed: ${reason.slice(0, 300)}.`, {
    kind: "network",
    cause: error,
  });
}

export const isUnknownHost = (failure: EgressError) =>
  failure.kind === "network" && causesOf(failure).some((cause) => codeOf(cause) === "ENOTFOUND");

/**
 * The error for a name that no name server knows. `entry` is the `host:port`. Only names in EGRESS_ALLOW are also
 * resolved by the system.
 */
export const unknownHostError = (failure: EgressError, entry: string) =>
  new EgressError(
    `${failure.message} Check its spelling. If only the service's own machine or network knows it, the operator sets ` +
      `EGRESS_ALLOW=${entry}`,
    { kind: "network", cause: failure.cause },
  );

/** The time that a server asks to wait, in milliseconds (RFC 9110, section 10.2.3, and OpenAI's `retry-after-ms`). */
export function retryAfterMs(headers: Headers | undefined, now: Date): number | undefined {
  const text = headers?.get("retry-after")?.trim() ?? "";
  const exact = Number(headers?.get("retry-after-ms") || Number.NaN);
  const seconds = Number(text || Number.NaN);
  const wait = [exact, seconds * 1000, Date.parse(text) - now.getTime()].find(Number.isFinite);
  return wait === undefined ? undefined : Math.max(0, wait);
}
