import { lookup as systemLookup } from "node:dns";
import type { LookupFunction } from "node:net";
import { isIP } from "node:net";
import {
  type Agent,
  type Dispatcher,
  type RequestInit as UndiciInit,
  type Response as UndiciResponse,
  fetch as undiciFetch,
} from "undici";
import { z } from "zod";
import { causesOf, codeOf } from "@/server/base/errors";
import { sleep } from "@/server/base/sleep";
import { KIB } from "@/server/contract/sizes";
import { guardedLookup, isPublicAddress, privateAddressError } from "@/server/guard/egress/addresses";
import { createConnections } from "@/server/guard/egress/connections";
import { decodeBody, isEncoded, keepEncoded, sentHeaders } from "@/server/guard/egress/decode-body";
import {
  EgressError,
  explainFailure,
  isUnknownHost,
  rejectedCall,
  responseTooLarge,
  unknownHostError,
} from "@/server/guard/egress/failures";
import {
  EGRESS_LIMITS,
  type EgressInit,
  entryOf,
  OutgoingRequest,
  readField,
} from "@/server/guard/egress/outgoing-request";
import { createNameLookup } from "@/server/guard/egress/resolve-names";
import type { Egress } from "@/server/guard/egress/trusted-fetch";

export type EgressOptions = {
  /** `host:port` pairs that may be reached although they are private (EGRESS_ALLOW). */
  allow?: readonly string[];
  /** Applies after decompression. */
  maxResponseBytes?: number;
  /** Covers one call with its redirects and body. */
  timeoutMs?: number;
  /** Resolves all names, instead of DNS and the system. */
  lookup?: LookupFunction;
  /** `address:port` of the name servers for tenants' names; the system's by default. */
  nameServers?: readonly string[];
};

// A worker that stalled may have been replaced, and must not send then.
type Sender = {
  /** Resolves when the sender may send; throws when it never may again. */
  confirm(): Promise<void> | undefined;
  /** Asked right before a request is written to its connection. If false, `confirm` is asked again. */
  isConfirmed(): boolean;
};

/** A fetch that sends only while its sender may, and secrets only to their hosts. */
export type GuardedFetch = (url: string | URL, init?: EgressInit, sender?: Sender) => Promise<Response>;

const MAX_REDIRECTS = 5;

function checkUrl(url: URL): void {
  if (url.protocol !== "http:" && url.protocol !== "https:") {
    throw rejectedCall(`Only http and https addresses can be called, not ${url.protocol.slice(0, 30)}`);
  }
  if (url.username !== "" || url.password !== "") {
    throw rejectedCall("Addresses with a user name or password are not allowed; use a header.");
  }
}

const LIGHT_RESPONSE_BYTES = 64 * KIB;

function expectedBytes({ headers }: UndiciResponse, maxBytes: number): number {
  const announced = isEncoded(headers) ? 0 : Number(headers.get("content-length"));
  return announced > 0 ? Math.min(announced, maxBytes) : maxBytes;
}

const EVENTS_TYPE = /^text\/event-stream/i;
// Shorter than the silence after which a model's attempt ends.
const STREAM_WAIT_MS = 30_000;

type Reading = {
  maxBytes: number;
  maxStreamBytes: number | undefined;
  holdResponse: EgressInit["holdResponse"];
  explain: (error: unknown) => Error;
  done: () => void;
};

function readerOf(
  body: NonNullable<UndiciResponse["body"]>,
  headers: UndiciResponse["headers"],
  maxBytes: number,
) {
  try {
    return decodeBody(body, headers, maxBytes).getReader();
  } catch (error) {
    body.cancel(error).catch(() => undefined);
    throw error;
  }
}

// Holds memory for a response once it is large.
function holdWhole(response: UndiciResponse, { maxBytes, holdResponse }: Reading) {
  let isHeld = false;
  return async (total: number) => {
    if (total <= LIGHT_RESPONSE_BYTES || isHeld) return;
    isHeld = true;
    await holdResponse?.(expectedBytes(response, maxBytes));
  };
}

// Holds memory for what was read of a stream: no other answer waits for what may never come.
function holdParts({ maxBytes, holdResponse }: Reading) {
  let counted = 0;
  return async (total: number) => {
    const part = Math.min(total, maxBytes) - counted;
    if (part <= LIGHT_RESPONSE_BYTES) return;
    const isFirst = counted === 0;
    counted += part;
    const held = holdResponse?.(part);
    if (held === undefined) return;
    if (isFirst) return limitWait(held);
    // It fails with the first one, or with the call.
    held.catch(() => undefined);
  };
}

async function limitWait(held: Promise<void>): Promise<void> {
  const over = new AbortController();
  held.catch(() => undefined);
  await Promise.race([held, sleep(STREAM_WAIT_MS, over.signal)]).finally(() => over.abort());
}

/** A body beyond the limit is an error. `done` is called at its end. */
function toResponse(response: UndiciResponse, reading: Reading): Response {
  const { explain, done } = reading;
  const { status, statusText, headers } = response;
  const isStream = response.ok && EVENTS_TYPE.test(headers.get("content-type") ?? "");
  const maxStreamBytes = isStream ? reading.maxStreamBytes : undefined;
  const maxBytes = maxStreamBytes ?? reading.maxBytes;
  const hold = maxStreamBytes === undefined ? holdWhole(response, reading) : holdParts(reading);
  const init = { status, statusText, headers: sentHeaders(headers) };
  if (response.body === null) {
    done();
    return createResponse(null, init);
  }
  const reader = readerOf(response.body, headers, maxBytes);
  let total = 0;
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      try {
        const { done: ended, value } = await reader.read();
        if (ended) {
          done();
          controller.close();
          return;
        }
        const chunk = z.instanceof(Uint8Array).parse(value);
        total += chunk.byteLength;
        if (total > maxBytes) throw responseTooLarge(maxBytes);
        await hold(total);
        controller.enqueue(chunk);
      } catch (error) {
        done();
        reader.cancel(error).catch(() => undefined);
        controller.error(explain(error));
      }
    },
    async cancel(reason) {
      done();
      await reader.cancel(reason);
    },
  });
  return createResponse(body, init);
}

// `new Response` rejects some statuses, such as LinkedIn's 999 (JakeChampion/fetch#1415).
function createResponse(
  body: ReadableStream<Uint8Array> | null,
  init: ResponseInit & { status: number },
): Response {
  if (init.status <= 599) return new Response(body, init);
  const response = new Response(body, { ...init, status: 200 });
  return Object.defineProperty(response, "status", { value: init.status });
}

const CLOSED = new Set(["UND_ERR_SOCKET", "ECONNRESET", "EPIPE"]);
const IDEMPOTENT = new Set(["GET", "HEAD", "OPTIONS", "PUT", "DELETE"]);

const isClosed = (error: unknown) => causesOf(error).some((cause) => CLOSED.has(codeOf(cause)));

class HeldBackError extends Error {}

const isHeldBack = (error: unknown) => causesOf(error).some((cause) => cause instanceof HeldBackError);

// Asks again once the connection is open, right before the request is written: with a body, that is when its first
// chunk has been read.
function holdBackUnless(sender: Sender): Dispatcher.DispatcherComposeInterceptor {
  const heldBack = () => new HeldBackError("The sender is not confirmed.");
  async function* checkFirst(body: AsyncIterable<unknown>) {
    const chunks = body[Symbol.asyncIterator]();
    const first = await chunks.next();
    if (!sender.isConfirmed()) throw heldBack();
    if (first.done) return;
    yield first.value;
    yield* { [Symbol.asyncIterator]: () => chunks };
  }
  return (dispatch) => (options, handler) => {
    const body: unknown = options.body;
    const checked = isAsyncIterable(body) ? Object.assign({}, options, { body: checkFirst(body) }) : options;
    return dispatch(checked, {
      onRequestStart(controller, context: unknown) {
        handler.onRequestStart?.(controller, context);
        if (!sender.isConfirmed()) controller.abort(heldBack());
      },
      onResponseStart: (...response) => handler.onResponseStart?.(...response),
      onResponseData: (...data) => handler.onResponseData?.(...data),
      onResponseEnd: (...end) => handler.onResponseEnd?.(...end),
      onResponseError: (...failure) => handler.onResponseError?.(...failure),
    });
  };
}

const isAsyncIterable = (body: unknown): body is AsyncIterable<unknown> =>
  typeof body === "object" && body !== null && Symbol.asyncIterator in body;

type Outgoing = { url: URL; init: UndiciInit; sender: Sender | undefined };

async function send(agent: Agent, outgoing: Outgoing): Promise<UndiciResponse> {
  const { url, init, sender } = outgoing;
  if (!sender) return undiciFetch(url, { ...init, dispatcher: agent.compose(keepEncoded) });
  await sender.confirm();
  const dispatcher = agent.compose(keepEncoded, holdBackUnless(sender));
  return undiciFetch(url, { ...init, dispatcher }).catch((error: unknown) => {
    if (!isHeldBack(error)) throw error;
    return send(agent, outgoing);
  });
}

const REDIRECTS = [301, 302, 303, 307, 308];

/** Throws EgressError if the redirect may not be followed. */
function nextAddress(location: string, url: URL, { isLast, mode }: { isLast: boolean; mode: string }): URL {
  if (mode === "error") throw new EgressError(`${url.host} redirects, which was not allowed.`);
  if (isLast) throw new EgressError(`${url.host} redirects more than ${MAX_REDIRECTS} times.`);
  // Some servers send UTF-8, as browsers accept it (scrapy/scrapy#2321).
  const address = readField(location);
  if (!URL.canParse(address, url)) throw new EgressError(`${url.host} redirects to an invalid address.`);
  return new URL(address, url);
}

/**
 * The HTTP client for addresses that tenants choose. It reaches only public addresses and those of `allow`, and
 * checks each of up to five redirects. Throws EgressError, or the signal's reason.
 */
export function createGuardedEgress(options: EgressOptions = {}): Egress<GuardedFetch> {
  const connections = createConnections({
    guarded: guardedLookup(options.lookup ?? createNameLookup(options.nameServers)),
    trusted: options.lookup ?? systemLookup,
  });
  const allowed = new Set((options.allow ?? []).map((entry) => entry.toLowerCase()));
  // The operator lists the host: secrets may go there without encryption.
  const isTrusted = (url: URL) => allowed.has(entryOf(url));
  const dispatchersFor = (url: URL, organizationId = "") => {
    const { guarded, trusted } = connections.of(organizationId);
    if (isTrusted(url)) return trusted;
    // Names are checked when they are resolved; an address is never resolved.
    const host = url.hostname.replace(/^\[(.*)\]$/, "$1");
    if (isIP(host) !== 0 && !isPublicAddress(host)) throw privateAddressError(url.hostname, entryOf(url));
    return guarded;
  };

  const fetch: GuardedFetch = async (address, init = {}, sender = undefined) => {
    const maxBytes = init.maxResponseBytes ?? options.maxResponseBytes ?? EGRESS_LIMITS.responseBytes;
    const timeoutMs = init.timeoutMs ?? options.timeoutMs ?? EGRESS_LIMITS.timeoutMs;
    if (!URL.canParse(String(address)))
      throw new EgressError(`"${String(address).slice(0, 200)}" is not an address that can be called.`);
    const first = new URL(address);
    const timeout = new AbortController();
    const timer = setTimeout(
      () => timeout.abort(new EgressError(`The call to ${first.host} took longer than ${timeoutMs} ms.`)),
      timeoutMs,
    );
    timer.unref();
    const signal = init.signal ? AbortSignal.any([init.signal, timeout.signal]) : timeout.signal;
    const request = await OutgoingRequest.read(first, init);
    const explain = (error: unknown): Error => {
      const { url } = request;
      if (signal.aborted) return signal.reason instanceof Error ? signal.reason : new EgressError("Aborted.");
      const failure = explainFailure(error, url.host);
      if (failure.kind === "not_public") return privateAddressError(url.hostname, entryOf(url));
      return isUnknownHost(failure) && !isTrusted(url) ? unknownHostError(failure, entryOf(url)) : failure;
    };

    for (let hop = 0; ; hop += 1) {
      try {
        signal.throwIfAborted();
        const { url, method } = request;
        checkUrl(url);
        const { pooled, fresh } = dispatchersFor(url, init.organizationId);
        const { url: target, ...filled } = request.fill(isTrusted(url));
        const outgoing = {
          url: target,
          init: { ...filled, method, redirect: "manual", signal },
          sender,
        } as const;
        // A server may close an idle connection at the moment of its reuse. A repeatable request is then sent again (RFC
        // 9110, section 9.2.2).
        const isRepeatable = IDEMPOTENT.has(method) || init.isRepeatable === true;
        const response = await send(pooled, outgoing).catch((error: unknown) => {
          if (!isRepeatable || signal.aborted || !isClosed(error)) throw error;
          return send(fresh, outgoing);
        });
        const location = REDIRECTS.includes(response.status) ? response.headers.get("location") : null;
        const mode = init.redirect ?? "follow";
        if (location === null || mode === "manual") {
          const { maxStreamBytes, holdResponse } = init;
          const done = () => clearTimeout(timer);
          return toResponse(response, { maxBytes, maxStreamBytes, holdResponse, explain, done });
        }
        await response.body?.cancel();
        // Relative to the address that was sent: a secret may have several segments of its path.
        const next = nextAddress(location, target, { isLast: hop === MAX_REDIRECTS, mode });
        request.redirect(response.status, next, isTrusted(next));
        // With 303, the result is elsewhere: the server has done what the request asked for.
        if (request.method !== method && response.status !== 303) init.onBodyDropped?.(response.status);
      } catch (error) {
        clearTimeout(timer);
        throw explain(error);
      }
    }
  };
  return { fetch, close: connections.close };
}
