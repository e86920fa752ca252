import { ApiError, ConnectionError, readApiError, StepwellError } from "./errors.js";
import { isRetriedStatus, pauseMs, readRetryAfter, sleep } from "./retry.js";

export type Settings = {
  /** The service's address, without a trailing slash. */
  url: string;
  key: string;
  fetch: typeof fetch;
  /** Attempts after the first one. */
  retries: number;
  timeoutMs: number;
  /** A longer Retry-After is thrown, not waited for. */
  maxRetryAfterMs: number;
};

export type HttpRequest = {
  method: string;
  path: string;
  headers: Record<string, string>;
  body?: string;
  /** False: only 429 is retried, which is known to have done nothing. */
  isRepeatable: boolean;
  /** Beside the time of an attempt. */
  moreTimeMs: number;
  signal: AbortSignal | undefined;
};

/**
 * Sends a request until it succeeds, may not be repeated or its attempts are used up. `read` takes the answer; its time
 * is part of the attempt's. Throws `ApiError`, `ConnectionError` or the signal's reason.
 */
export async function send<Value>(
  settings: Settings,
  request: HttpRequest,
  read: (response: Response, connection: Connection) => Promise<Value>,
): Promise<Value> {
  const { signal } = request;
  for (let attempt = 0; ; attempt += 1) {
    signal?.throwIfAborted();
    try {
      return await attemptOnce(settings, request, read);
    } catch (error) {
      signal?.throwIfAborted();
      const retryAfterMs = error instanceof ApiError ? error.retryAfterMs : null;
      const mayRetry = isRetriable(error, request.isRepeatable) && attempt < settings.retries;
      if (!mayRetry || (retryAfterMs ?? 0) > settings.maxRetryAfterMs) throw error;
      await sleep(pauseMs(attempt, retryAfterMs), signal);
    }
  }
}

function isRetriable(error: unknown, isRepeatable: boolean): boolean {
  if (error instanceof ConnectionError) return isRepeatable;
  if (!(error instanceof ApiError)) return false;
  return error.status === 429 || (isRepeatable && isRetriedStatus(error.status));
}

/** The connection of one attempt, which ends when its time is over or the caller's signal is aborted. */
export type Connection = {
  /** Gives it new time, counted from now. */
  extend(ms: number): void;
  close(): void;
  /** The error to throw for one that reading threw. */
  errorOf(cause: unknown): unknown;
  signal: AbortSignal;
};

type ConnectionOptions = {
  timeoutMs: number;
  signal: AbortSignal | undefined;
  idempotencyKey: string | null;
};

function openConnection({ timeoutMs, signal, idempotencyKey }: ConnectionOptions): Connection {
  const controller = new AbortController();
  let isLate = false;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const onAbort = () => controller.abort(signal?.reason);
  const extend = (ms: number) => {
    clearTimeout(timer);
    timer = setTimeout(() => {
      isLate = true;
      controller.abort();
    }, ms);
  };
  extend(timeoutMs);
  if (signal?.aborted) onAbort();
  signal?.addEventListener("abort", onAbort, { once: true });
  return {
    extend,
    close() {
      clearTimeout(timer);
      signal?.removeEventListener("abort", onAbort);
      controller.abort();
    },
    errorOf(cause) {
      if (signal?.aborted) return signal.reason;
      if (cause instanceof StepwellError) return cause;
      const message = isLate ? "The service did not answer in time." : messageOf(cause);
      return new ConnectionError(message, { cause, idempotencyKey });
    },
    signal: controller.signal,
  };
}

/** A later header replaces an earlier one, also if its name has another case. */
function joinHeaders(...sources: Record<string, string>[]): Headers {
  const joined = new Headers();
  for (const source of sources) for (const [name, value] of Object.entries(source)) joined.set(name, value);
  return joined;
}

async function attemptOnce<Value>(
  { url, key, fetch, timeoutMs }: Settings,
  request: HttpRequest,
  read: (response: Response, connection: Connection) => Promise<Value>,
): Promise<Value> {
  const { method, path, body, moreTimeMs, signal } = request;
  const headers = joinHeaders({ "X-API-Key": key }, request.headers);
  const idempotencyKey = headers.get("Idempotency-Key");
  const connection = openConnection({ timeoutMs: timeoutMs + moreTimeMs, signal, idempotencyKey });
  try {
    const response = await fetch(url + path, {
      method,
      headers,
      ...(body === undefined ? {} : { body }),
      // A redirect would send the key to another address.
      redirect: "manual",
      signal: connection.signal,
    });
    if (!response.ok) {
      const retryAfterMs = readRetryAfter(response.headers.get("retry-after"));
      throw await readApiError(response, { retryAfterMs, idempotencyKey });
    }
    return await read(response, connection);
  } catch (error) {
    const thrown = connection.errorOf(error);
    connection.close();
    throw thrown;
  }
}

const messageOf = (cause: unknown) =>
  `The service cannot be reached: ${cause instanceof Error ? cause.message : String(cause)}`;
