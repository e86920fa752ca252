import { LRUCache } from "lru-cache";
import type { OrgId } from "@/server/base/actor";
import { retryWhileUnavailable } from "@/server/base/db/outage";
import { perOwner } from "@/server/base/per-owner";
import { sleepOrThrow } from "@/server/base/sleep";
import { MIB } from "@/server/contract/sizes";
import type { CarriedSecret } from "@/server/guard/egress/outgoing-request";
import type { Redact, Redactor } from "@/server/guard/secrets/redact";
import { rewriteToolCalls } from "@/server/runs/attempts";
import { findModelProviders } from "@/server/runs/find-model-providers";
import type { Services } from "@/server/runs/services";
import type { CallOptions } from "@/server/work/models/calls/model-call";
import { ATTEMPT_MS, type KnownLimits } from "@/server/work/models/calls/model-server";
import { findModelFacts } from "@/server/work/models/catalog/find-model-facts";
import { keySecretOf, type OwnProvider } from "@/server/work/models/own-provider";
import { Paces } from "@/server/work/models/pace/paces";
import {
  type Attempt,
  ModelCallStopped,
  ModelError,
  type ModelReply,
  type ModelRequest,
  type Models,
  type ReceivedOutput,
} from "@/server/work/models/port";
import { createProvider, type Provider } from "@/server/work/models/provider";
import type { Execution } from "./execution";

// Only applies if the attempt does not end at its own, shorter limit.
const TIMEOUT_MS = ATTEMPT_MS + 10_000;
const MAX_RESPONSE_BYTES = 8 * MIB;
// Most of a stream's bytes are around the text, which has its own limit.
const MAX_STREAM_BYTES = 64 * MIB;
// The most characters in which an answer usually spells one character of a secret (secret-forms.ts).
const LONGEST_SPELLING = 14;

const pacesOf = perOwner((clock: Services["clock"]) => new Paces({ clock, sleep: sleepOrThrow }));

// Without them, every call would begin with requests that the server rejects.
const limitsOfServers = new LRUCache<string, KnownLimits>({ max: 1_000 });

function knownLimitsOf(orgId: OrgId, { name, api, baseUrl }: OwnProvider): KnownLimits {
  const server = JSON.stringify([orgId, name, api, baseUrl]);
  const known = limitsOfServers.get(server) ?? new Map();
  limitsOfServers.set(server, known);
  return known;
}

/** Finds the provider of a run's model: the organization's own provider that lists it, else the service's providers. */
export async function findModels(
  execution: Execution,
  model: string,
): Promise<Pick<Models, "call" | "providerOf" | "factsOf">> {
  const { services, run } = execution;
  const providers = await findModelProviders(services, run.orgId);
  const own = providers.find(({ models }) => models.includes(model));
  if (own === undefined) return services.models;
  return {
    providerOf: () => own.name,
    call: (request) => callOwnProvider(execution, own, request),
    factsOf: (name) => findModelFacts({ baseUrl: own.baseUrl, model: name }),
  };
}

type OwnCall = Pick<Execution, "services" | "secrets"> & {
  limits?: Pick<CallOptions, "maxAttempts" | "attemptTimeoutMs">;
};

/** `apiKey` may be the placeholder of a secret in `carried`. */
type OwnAccess = Pick<CallOptions, "maxAttempts" | "attemptTimeoutMs" | "paces"> & {
  orgId: OrgId;
  apiKey: string | undefined;
  carried: readonly CarriedSecret[];
  redact: Redact;
  holdResponse?: ModelRequest["holdResponse"];
};

// Other answers are read as a whole, whatever their type. Within a text, the quotes would be escaped.
const asksForStream = (body: unknown) => typeof body === "string" && body.includes('"stream":true');

/** A client of an organization's own provider. Its requests pass the guard, which inserts the secrets. */
export function createOwnProvider(
  { fetch, clock }: Pick<Services, "fetch" | "clock">,
  own: OwnProvider,
  { orgId, carried, holdResponse, ...access }: OwnAccess,
): Provider {
  return createProvider({
    ...access,
    name: own.name,
    api: own.api,
    baseUrl: own.baseUrl,
    fetch: (address, init) =>
      fetch(address, {
        ...init,
        redirect: "manual",
        secrets: carried,
        organizationId: orgId,
        timeoutMs: TIMEOUT_MS,
        maxResponseBytes: MAX_RESPONSE_BYTES,
        ...(asksForStream(init?.body) && { maxStreamBytes: MAX_STREAM_BYTES }),
        ...(holdResponse && { holdResponse }),
      }),
    known: knownLimitsOf(orgId, own),
    clock,
    random: Math.random,
    sleep: sleepOrThrow,
  });
}

/**
 * Calls an organization's own provider through the guarded client, which alone sees its key. The key is redacted
 * from all answers. Throws as `Models.call`.
 */
export async function callOwnProvider(
  { services, secrets, limits }: OwnCall,
  own: OwnProvider,
  request: ModelRequest,
): Promise<ModelReply> {
  const name = keySecretOf(own);
  const opened =
    name === null
      ? { carried: [] }
      : await retryWhileUnavailable(() => secrets.openKey(name), request.signal);
  if ("rejected" in opened) throw new ModelError(opened.rejected, { reason: "unauthorized", attempts: [] });
  const { carried } = opened;
  const provider = createOwnProvider(services, own, {
    ...limits,
    // A test of a provider waits for no other call.
    ...(limits === undefined && { paces: pacesOf(services.clock) }),
    orgId: secrets.orgId,
    apiKey: name === null ? undefined : secrets.placeholders.of(name),
    carried,
    redact: secrets.redact,
    holdResponse: request.holdResponse,
  });
  const { redact, redactLong } = secrets;
  const { onText, onRetry } = request;
  // The end of a growing text may be the beginning of a secret.
  const hidden = LONGEST_SPELLING * Math.max(0, ...carried.map(({ value }) => value.length));
  try {
    const reply = await provider.call({
      ...request,
      ...(onText && { onText: (readText) => onText(() => withoutEnd(redact(readText()), hidden)) }),
      ...(onRetry && { onRetry: (attempts) => onRetry(redactAttempts(attempts, redact)) }),
    });
    return {
      ...reply,
      content: await redactLong(reply.content),
      reasoning: await redactLong(reply.reasoning),
      toolCalls: rewriteToolCalls(reply.toolCalls, redact),
      finishReason: reply.finishReason === null ? null : redact(reply.finishReason),
      attempts: redactAttempts(reply.attempts, redact),
    };
  } catch (error) {
    throw await redactFailure(error, secrets);
  }
}

const withoutEnd = (text: string, length: number) => text.slice(0, Math.max(0, text.length - length));

// The changes may have names of fields that the provider sent.
const redactAttempts = (attempts: readonly Attempt[], redact: Redact): Attempt[] =>
  attempts.map(({ error, changes, usage, ...attempt }) => ({
    ...attempt,
    error: error === null ? null : redact(error),
    ...(changes && { changes: changes.map(redact) }),
    ...(usage !== undefined && { usage: redact(usage) }),
  }));

const redactReceived = async (
  received: ReceivedOutput,
  { redactLong }: Redactor,
): Promise<ReceivedOutput> => ({ ...received, content: await redactLong(received.content) });

// Removes what the provider said from the causes.
async function redactFailure(error: unknown, redactor: Redactor): Promise<unknown> {
  const { redact } = redactor;
  if (error instanceof ModelCallStopped) {
    const { attempts, received, cause } = error;
    return new ModelCallStopped({
      attempts: redactAttempts(attempts, redact),
      received: await redactReceived(received, redactor),
      cause,
    });
  }
  if (!(error instanceof ModelError)) return error;
  const { message, reason, fallsBack, attempts, received } = error;
  return new ModelError(redact(message), {
    reason,
    fallsBack,
    attempts: redactAttempts(attempts, redact),
    received: received && (await redactReceived(received, redactor)),
  });
}
