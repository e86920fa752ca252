/**
 * Server-sent events as a Response: heartbeats so that proxies and browsers keep the connection, no buffering
 * or compression on the way, and an end after a while, so that a reconnect asks again who may listen.
 */

const HEARTBEAT_MS = 15_000;
/** Browsers reconnect by themselves, with the last event's id. */
const MAX_LIFE_MS = 10 * 60_000;
/** How soon a browser reconnects. */
const RETRY_MS = 1_000;

export type EventSink = {
  /** Sends one event; `id` comes back as Last-Event-ID after a dropped connection. */
  send(event: { name: string; data: unknown; id?: number | undefined }): void;
  close(): void;
  /** Fires when the reader is gone or the stream was closed. */
  signal: AbortSignal;
};

/** Answers a request with the events that `produce` sends. What `produce` throws ends the stream. */
export function respondWithEvents(
  request: Request,
  produce: (sink: EventSink) => Promise<void>,
  onError: (error: unknown) => void,
): Response {
  const over = new AbortController();
  const encoder = new TextEncoder();
  const stream = new ReadableStream<Uint8Array>({
    start(controller) {
      const write = (text: string) => {
        if (!over.signal.aborted) controller.enqueue(encoder.encode(text));
      };
      const close = () => {
        if (over.signal.aborted) return;
        over.abort();
        try {
          controller.close();
        } catch {
          // The reader left in this very moment.
        }
      };
      const heartbeat = setInterval(() => write(": still here\n\n"), HEARTBEAT_MS);
      const life = setTimeout(close, MAX_LIFE_MS);
      over.signal.addEventListener("abort", () => {
        clearInterval(heartbeat);
        clearTimeout(life);
      });
      request.signal.addEventListener("abort", close);
      if (request.signal.aborted) close();
      write(`retry: ${RETRY_MS}\n\n`);
      const sink: EventSink = {
        send: ({ name, data, id }) =>
          write(`${id === undefined ? "" : `id: ${id}\n`}event: ${name}\ndata: ${JSON.stringify(data)}\n\n`),
        close,
        signal: over.signal,
      };
      produce(sink).then(close, (error: unknown) => {
        if (!over.signal.aborted) onError(error);
        close();
      });
    },
    cancel() {
      over.abort();
    },
  });
  return new Response(stream, {
    headers: {
      "content-type": "text/event-stream; charset=utf-8",
      "cache-control": "no-cache, no-transform",
      "x-accel-buffering": "no",
    },
  });
}

/** Waits for the earliest of: `ms`, the signal, `wake` being called. */
export function napUntil(ms: number, signal: AbortSignal, onWake: (wake: () => void) => void): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      clearTimeout(timer);
      signal.removeEventListener("abort", done);
      resolve();
    };
    const timer = setTimeout(done, ms);
    signal.addEventListener("abort", done);
    if (signal.aborted) done();
    onWake(done);
  });
}
