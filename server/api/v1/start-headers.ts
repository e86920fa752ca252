import { z } from "zod";
import type { ApiKeyActor } from "@/server/base/actor";
import { Decimal } from "@/server/base/amount";
import { AppError } from "@/server/base/errors";
import { findInvalidText } from "@/server/base/json/invalid-text";
import { isContainer, isJsonObject, type Json, writeJson } from "@/server/base/json/json";
import { typedJsonIssue } from "@/server/base/json/repeated-key";
import { parseJson } from "@/server/base/json/text";
import type { Environment } from "@/server/base/settings/env";
import { parseTraceParent } from "@/server/base/trace-context";
import { MAX_IDEMPOTENCY_KEY_LENGTH } from "@/server/contract/limits";
import { formatLimit, MAX_METADATA_BYTES } from "@/server/contract/sizes";
import { readCallbackAddress } from "@/server/guard/egress/callback-address";
import type { StartOptions } from "@/server/runs/start-options";

/** Options of a start are headers, because the body of a tool's start is its input. A repeated header is malformed. */

const MAX_DEADLINE_SECONDS = 86_400;

/** An optional header with the caller's own id. */
export function idempotencyKey(description: string) {
  return z
    .string()
    .regex(new RegExp(`^[!-~]([ -~]{0,${MAX_IDEMPOTENCY_KEY_LENGTH - 2}}[!-~])?$`))
    .optional()
    .meta({ description, param: { example: "order-42-created" } });
}

/** For the OpenAPI document. */
export const OPTION_HEADERS = z.object({
  "X-Metadata": z
    .string()
    .optional()
    .meta({
      description:
        `A flat JSON object of texts, numbers and booleans in ASCII, at most ${formatLimit(MAX_METADATA_BYTES)}. ` +
        "It is shown with the run and filters lists.",
      param: { example: '{"customer":"acme","order":42}' },
    }),
  "X-Max-Credits": z
    .string()
    .optional()
    .meta({
      description:
        "The run's cap of credits, below maxCredits of agent, tool and key. A provider that ignores its output limit may exceed it.",
      param: { example: "0.5" },
    }),
  "X-Deadline-Seconds": z
    .string()
    .optional()
    .meta({
      description:
        "The run fails after this many seconds, or at the deadline of agent or tool if that is earlier.",
      param: { example: "60" },
    }),
  "X-Callback-Url": z
    .string()
    .optional()
    .meta({
      description:
        "An https address that gets an event when the run ends. The key needs the scope runs:read.",
      param: { example: "https://example.com/runs" },
    }),
});

type Header = (name: string) => string | null;

const NAMES = Object.keys(OPTION_HEADERS.shape).map((name) => name.toLowerCase());

/** The option headers of a call as they are, to recognize its repetition. Empty without any. */
export function optionHeadersOf(header: Header): string[] {
  return NAMES.flatMap((name) => {
    const value = header(name);
    return value === null ? [] : [`${name}: ${value}`];
  });
}

/** Throws `forbidden` if the key may not send outputs to an address. */
export function authorizeOptions({ scopes, name }: ApiKeyActor, header: Header): void {
  if (header("x-callback-url") === null || scopes.includes("runs:read")) return;
  throw new AppError(
    "forbidden",
    `The API key ${name} lacks the scope runs:read, which X-Callback-Url needs because outputs are sent there.`,
  );
}

/** Throws `invalid_request`. */
export function readStartOptions(
  header: Header,
  { egressAllow, traces }: Pick<Environment, "egressAllow" | "traces">,
): StartOptions | undefined {
  const read = <Value>(name: string, parse: (text: string) => Value): Value | undefined => {
    const text = header(name.toLowerCase());
    return text === null ? undefined : parse(text);
  };
  const options: StartOptions = {
    metadata: read("X-Metadata", readMetadata),
    maxCredits: read("X-Max-Credits", readMaxCredits),
    deadlineSeconds: read("X-Deadline-Seconds", readDeadline),
    callbackUrl: read("X-Callback-Url", (text) => {
      const found = readCallbackAddress(text, egressAllow);
      return "url" in found ? found.url : reject("X-Callback-Url", found.issue);
    }),
  };
  if (traces !== undefined) options.traceParent = readTraceParent(header);
  return Object.values(options).some((value) => value !== undefined) ? options : undefined;
}

/** The caller's trace; undefined if it has none. */
export function readTraceParent(header: Header): string | undefined {
  const text = header("traceparent");
  return text !== null && parseTraceParent(text) ? text : undefined;
}

function reject(name: string, issue: string): never {
  throw new AppError("invalid_request", `The header ${name} ${issue}.`);
}

function readMaxCredits(text: string): Decimal {
  const credits = /^\d{1,12}(\.\d{1,4})?$/.test(text) ? new Decimal(text) : null;
  if (credits?.gt(0)) return credits;
  return reject("X-Max-Credits", "must be one decimal above 0 with at most four places, such as 0.5");
}

function readDeadline(text: string): number {
  const seconds = /^\d{1,5}$/.test(text) ? Number(text) : 0;
  if (seconds >= 1 && seconds <= MAX_DEADLINE_SECONDS) return seconds;
  return reject("X-Deadline-Seconds", `must be one whole number from 1 to ${MAX_DEADLINE_SECONDS}`);
}

/** Undefined if the object is empty. */
function readMetadata(text: string): string | undefined {
  const name = "X-Metadata";
  if (text.length > MAX_METADATA_BYTES)
    return reject(name, `must have at most ${formatLimit(MAX_METADATA_BYTES)}`);
  // Clients and proxies encode other characters in different ways.
  if (!/^[\t -~]*$/.test(text)) {
    return reject(name, "must be ASCII; write other characters as escapes such as \\u00e9");
  }
  const metadata = parseMetadata(text);
  if (!isJsonObject(metadata)) {
    return reject(name, 'must be one JSON object, such as {"customer":"acme"}');
  }
  const entries = Object.entries(metadata);
  if (typedJsonIssue(text) !== undefined) return reject(name, "must not have a key twice");
  // Answers would leave it out.
  if (Object.hasOwn(metadata, "__proto__")) return reject(name, "must not have the key __proto__");
  const invalid = findInvalidText(metadata);
  if (invalid !== null) return reject(name, `must not contain ${invalid.found}`);
  const nested = entries.find(([, value]) => value === null || isContainer(value));
  if (nested !== undefined) {
    return reject(
      name,
      `must be flat: ${writeJson(nested[0].slice(0, 100))} is not a text, number or boolean`,
    );
  }
  return entries.length === 0 ? undefined : writeJson(metadata);
}

function parseMetadata(text: string): Json {
  try {
    return parseJson(text);
  } catch {
    return null;
  }
}
