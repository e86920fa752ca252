import { ApiError, ConnectionError, StepwellError } from "./errors.js";
import { type Message, readMessages } from "./event-stream.js";
import { isLastEvent, type PathPart, type RunEvent, TextsProgress, type TreeEvent } from "./events.js";
import { pauseMs, sleep } from "./retry.js";
import { type Connection, type Settings, send } from "./transport.js";

/** The service sends a comment every 15 seconds. */
const SILENCE_MS = 45_000;

export type FollowOptions = {
  /** Continue after the event with this id. 0: from the first event. Without it a snapshot comes first. */
  since?: number;
  children?: false;
  signal?: AbortSignal;
};
/** Also the events of the runs that the run calls. */
export type FollowTreeOptions = { since?: string | 0; children: true; signal?: AbortSignal };

/**
 * The events of a run until its last one. After a lost connection it continues behind the last event, so that none is
 * missing and none repeated.
 */
export function follow<Status>(
  settings: Settings,
  path: string,
  options: FollowOptions,
): AsyncGenerator<RunEvent<Status>, void, undefined> {
  return followMessages(settings, path, { ...options, parse: parseEvent<Status> });
}

/** Like `follow`, with the runs that the run calls. */
export function followTree(
  settings: Settings,
  path: string,
  { children: _, ...options }: FollowTreeOptions,
): AsyncGenerator<TreeEvent, void, undefined> {
  return followMessages(settings, `${path}?children=true`, { ...options, parse: parseTreeEvent });
}

type Parsed = { id: number | string | null; type: string; data: unknown; path?: PathPart[] };

async function* followMessages<Event extends Parsed>(
  settings: Settings,
  path: string,
  { since, signal, parse }: { since?: number | string; signal?: AbortSignal; parse(message: Message): Event },
): AsyncGenerator<Event, void, undefined> {
  const texts = new TextsProgress();
  let last: number | string | null = since ?? null;
  /** Connections in a row that sent nothing. */
  let silent = 0;
  for (;;) {
    silent += 1;
    const stream = await open(settings, path, { last, signal });
    try {
      if (stream.body === null) return;
      const onBytes = () => {
        silent = 0;
        stream.connection.extend(SILENCE_MS);
      };
      for await (const message of readMessages(stream.body, onBytes)) {
        const event = parse(message);
        last = event.id ?? last;
        yield* texts.pass(event);
        if (isLastEvent(event)) return;
      }
    } catch (error) {
      const thrown = stream.connection.errorOf(error);
      if (!(thrown instanceof ConnectionError)) throw thrown;
    } finally {
      stream.connection.close();
    }
    if (silent > settings.retries)
      throw new ConnectionError("The service ends the events without sending any.");
    // Also after an orderly end: the service closes a stream after ten minutes.
    await sleep(pauseMs(silent, null), signal);
    texts.reconnect();
  }
}

/** Without a body: the run has ended, and the reader has its last event. */
type Stream = { body: ReadableStream<Uint8Array> | null; connection: Connection };

function open(
  settings: Settings,
  path: string,
  { last, signal }: { last: number | string | null; signal: AbortSignal | undefined },
): Promise<Stream> {
  const headers: Record<string, string> = { Accept: "text/event-stream, application/json" };
  if (last !== null) headers["Last-Event-ID"] = String(last);
  const request = { method: "GET", path, headers, isRepeatable: true, moreTimeMs: 0, signal };
  return send(settings, request, async ({ body, headers: got, status }, connection): Promise<Stream> => {
    if (status === 204) return { body: null, connection };
    if (body === null || !got.get("content-type")?.startsWith("text/event-stream")) {
      const message = "The answer is not a stream of events.";
      const unknown = { code: null, requestId: null, retryAfterMs: null, idempotencyKey: null };
      throw new ApiError({ status, message, issues: [], ...unknown });
    }
    return { body, connection };
  });
}

function parseData({ event, data }: Message) {
  try {
    return JSON.parse(data);
  } catch (cause) {
    throw new StepwellError(`The event ${event} is not JSON.`, { cause });
  }
}

/** The service's own events; those of a newer service may have other types. */
function parseEvent<Status>(message: Message): RunEvent<Status> {
  const { id, event } = message;
  return { id: id === null ? null : Number(id), type: event, data: parseData(message) } as RunEvent<Status>;
}

function parseTreeEvent(message: Message): TreeEvent {
  const { path = [], ...data } = parseData(message);
  return { id: message.id, type: message.event, data, path } as TreeEvent;
}
