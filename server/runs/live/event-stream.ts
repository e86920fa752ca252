import { STREAM_MINUTES } from "@/server/contract/limits";
import { EVENTS_TYPE } from "@/server/contract/media-types";

/** Nothing is buffered or compressed. */

/** Heartbeats keep proxies from closing the connection. */
export const HEARTBEAT_MS = 15_000;
/** The heartbeats of pages are events: scripts see no comments. */
export const HEARTBEAT_EVENT = "heartbeat";
// Browsers reconnect by themselves, with the last event's id.
const MAX_LIFE_MS = STREAM_MINUTES * 60_000;
const RETRY_MS = 1_000;

export type EventSink = {
  /**
   * Resolves when the reader has taken everything and asks for more, or has disconnected. Wait for it before reading
   * more data: a slow reader then gets fewer and newer events.
   */
  drained(): Promise<void>;
  /** `id` returns as Last-Event-ID after a dropped connection. */
  send(event: { name: string; data: unknown; id?: number | string | undefined }): void;
  close(): void;
  signal: AbortSignal;
};

type Events = {
  /** The stream ends when it returns. */
  produce: (sink: EventSink) => Promise<void>;
  /** Called every `checkEveryMs`; false ends the stream. */
  mayStay: () => Promise<boolean>;
  checkEveryMs?: number;
  heartbeat?: string;
  onError: (error: unknown) => void;
  onOver: () => void;
};

export const EVENT_STREAM_HEADERS = {
  "Content-Type": `${EVENTS_TYPE}; charset=utf-8`,
  "Cache-Control": "no-cache, no-transform",
  "X-Accel-Buffering": "no",
};

/** Answers a page with events until they end, the reader leaves or loses access, or the time is up. */
export function respondWithEvents(request: Request, events: Events): Response {
  // An event without data is not delivered.
  const heartbeat = `event: ${HEARTBEAT_EVENT}\ndata: {}\n\n`;
  return new Response(openEventStream({ ...events, heartbeat, call: request }), {
    headers: EVENT_STREAM_HEADERS,
  });
}

/** The bytes of such an answer. The signal of `call` is aborted when the reader leaves. */
export function openEventStream({
  produce,
  mayStay,
  checkEveryMs = HEARTBEAT_MS,
  heartbeat: sign = ": still here\n\n",
  onError,
  onOver,
  call,
}: Events & { call: { readonly signal: AbortSignal } }): ReadableStream<Uint8Array> {
  const over = new AbortController();
  over.signal.addEventListener("abort", onOver, { once: true });
  const encoder = new TextEncoder();
  let wake = () => {};
  let isAsked = false;
  const source: UnderlyingDefaultSource<Uint8Array> = {
    start(controller) {
      const write = (text: string) => {
        isAsked = false;
        if (!over.signal.aborted) controller.enqueue(encoder.encode(text));
      };
      const close = () => {
        if (over.signal.aborted) return;
        over.abort();
        try {
          controller.close();
        } catch {
          // The reader left at this moment.
        }
      };
      const fail = (error: unknown) => {
        if (!over.signal.aborted) onError(error);
        close();
      };
      // Unread data shows that the stream is alive.
      const heartbeat = setInterval(() => isAsked && write(sign), HEARTBEAT_MS);
      let asking = false;
      const check = setInterval(() => {
        if (asking) return;
        asking = true;
        mayStay()
          .then((stays) => stays || close(), fail)
          .finally(() => {
            asking = false;
          });
      }, checkEveryMs);
      const life = setTimeout(close, MAX_LIFE_MS);
      over.signal.addEventListener("abort", () => {
        clearInterval(heartbeat);
        clearInterval(check);
        clearTimeout(life);
        // Holds the call: a request's signal follows the connection only until the request is collected.
        call.signal.removeEventListener("abort", close);
        wake();
      });
      write(`retry: ${RETRY_MS}\n\n`);
      const sink: EventSink = {
        drained: () =>
          new Promise((resolve) => {
            wake = resolve;
            if (isAsked || over.signal.aborted) resolve();
          }),
        send: ({ name, data, id }) =>
          write(`${id === undefined ? "" : `id: ${id}\n`}event: ${name}\ndata: ${JSON.stringify(data)}\n\n`),
        close,
        signal: over.signal,
      };
      call.signal.addEventListener("abort", close);
      if (call.signal.aborted) close();
      produce(sink).then(close, fail);
    },
    pull() {
      isAsked = true;
      wake();
    },
    cancel() {
      over.abort();
    },
  };
  // Nothing is written before the reader asks.
  return new ReadableStream(source, { highWaterMark: 0 });
}
