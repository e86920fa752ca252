import pg from "pg";
import { connectionSettings, limitSilence, TIMEOUTS } from "@/server/base/db/client";
import type { DatabaseClock } from "@/server/base/db/database-clock";
import type { Logger } from "@/server/base/log";
import { defineCommand, type Queryable } from "./statement";

/**
 * A notification may be lost (a restart of PostgreSQL, a killed process): listeners also poll the rows, and caches
 * check `fresh`.
 */

const TOPICS = {
  // `organization:run:sequence`: a run, step or model call changed.
  run: "stepwell_run",
  // `waiting`: a run waits for a slot; `cancel:run`: cancel the run.
  engine: "stepwell_engine",
  // A schedule changed: its next time may be earlier.
  schedule: "stepwell_schedule",
  // An organization's id: keys, plan, agents, tools or triggers changed. Sent by database triggers.
  configuration: "stepwell_configuration",
} as const;
type Topic = keyof typeof TOPICS;

const PING = "stepwell_ping";
const PING_EVERY_MS = 300;
const STALE_AFTER_MS = 900;
const GATHER_MS = 25;
// NOTIFY carries at most 8,000 bytes.
const MAX_PAYLOAD = 7_500;
const RECONNECT_MS = 500;

const NOTIFY = defineCommand(
  "notify",
  "SELECT pg_notify(channel, payload) FROM unnest($1::text[], $2::text[]) AS n (channel, payload)",
);

type Listener = (payload: string) => void;

export type Notifications = {
  /** Sends soon; of several with the same key only the last. Never throws or waits. */
  send(topic: Topic, key: string, payload: string): void;
  deliverLocally(topic: Topic, payload: string): void;
  /** Returns a function that stops it. An empty payload means that some may be lost. */
  listen(topic: Topic, listener: Listener): () => void;
  open(): void;
  connected(): boolean;
  /** True if every notification older than a second has arrived. */
  fresh(): boolean;
  /** Sends pending notifications first. */
  close(): Promise<void>;
};

function merge(entries: Iterable<{ channel: string; payload: string }>) {
  const channels: string[] = [];
  const payloads: string[] = [];
  for (const { channel, payload } of entries) {
    const last = channels.at(-1) === channel ? payloads.at(-1) : undefined;
    if (last !== undefined && last.length + payload.length < MAX_PAYLOAD) {
      payloads[payloads.length - 1] = `${last} ${payload}`;
    } else {
      channels.push(channel);
      payloads.push(payload);
    }
  }
  return [channels, payloads];
}

function createOutbox(pool: Queryable, log: Logger) {
  const gathered = new Map<string, { channel: string; payload: string }>();
  let timer: NodeJS.Timeout | undefined;
  const flush = async () => {
    clearTimeout(timer);
    timer = undefined;
    if (gathered.size === 0) return;
    const values = merge(gathered.values());
    gathered.clear();
    try {
      await NOTIFY(pool, values);
    } catch (error) {
      log.warn("A notification was lost; pages and workers catch up by polling", { error });
    }
  };
  return {
    add(topic: Topic, key: string, payload: string): void {
      gathered.set(`${topic} ${key}`, { channel: TOPICS[topic], payload });
      timer ??= setTimeout(() => void flush(), GATHER_MS);
    },
    flush,
  };
}

export function createNotifications({
  url,
  pool,
  log,
  clock,
  silenceMs = TIMEOUTS.silence,
}: {
  url: string;
  pool: Queryable;
  log: Logger;
  /** Follows the database's clock with each ping. */
  clock?: DatabaseClock;
  /** Reconnects if the server is silent for this time. */
  silenceMs?: number;
}): Notifications {
  const outbox = createOutbox(pool, log);
  const listeners = new Map<string, Set<Listener>>(
    Object.values(TOPICS).map((channel) => [channel, new Set<Listener>()]),
  );
  let client: pg.Client | undefined;
  let ready = false;
  let closed = false;
  let lastHeardAt = 0;
  let pinging: NodeJS.Timeout | undefined;

  const onLost = (lost: pg.Client, error: unknown) => {
    if (client !== lost) return;
    client = undefined;
    ready = false;
    clearInterval(pinging);
    lost.end().catch(() => {});
    if (closed) return;
    if (error) log.warn("Notifications are interrupted; polling meanwhile", { error });
    setTimeout(open, RECONNECT_MS).unref();
  };

  const onNotification = ({ channel, payload = "" }: pg.Notification) => {
    lastHeardAt = performance.now();
    const interested = listeners.get(channel);
    if (interested === undefined || interested.size === 0) return;
    for (const part of payload.split(" ")) for (const listener of interested) listener(part);
  };

  function open(): void {
    if (client || closed) return;
    const opened = new pg.Client({ ...connectionSettings(url), application_name: "stepwell notifications" });
    client = opened;
    opened.on("notification", onNotification);
    opened.on("error", (error) => onLost(opened, error));
    opened.on("end", () => onLost(opened, undefined));
    opened
      .connect()
      .then(() => {
        limitSilence(opened, silenceMs);
        return opened.query(
          [...Object.values(TOPICS), PING].map((channel) => `LISTEN ${channel}`).join("; "),
        );
      })
      .then(() => {
        if (client !== opened) return;
        ready = true;
        lastHeardAt = performance.now();
        let isAnswered = true;
        pinging = setInterval(() => {
          if (!isAnswered) return;
          isAnswered = false;
          const ping = opened.query(`NOTIFY ${PING}`).then(() => clock?.sync(opened));
          ping.then(
            () => {
              isAnswered = true;
            },
            (error: unknown) => onLost(opened, error),
          );
        }, PING_EVERY_MS);
        pinging.unref();
        // Notifications without a listener are lost, so every listener must check.
        for (const interested of listeners.values()) for (const listener of interested) listener("");
      })
      .catch((error: unknown) => onLost(opened, error));
  }

  return {
    send: outbox.add,
    deliverLocally(topic, payload) {
      for (const listener of listeners.get(TOPICS[topic]) ?? []) listener(payload);
    },
    listen(topic, listener) {
      const interested = listeners.get(TOPICS[topic]);
      interested?.add(listener);
      return () => void interested?.delete(listener);
    },
    open,
    connected: () => ready,
    fresh: () => ready && performance.now() - lastHeardAt < STALE_AFTER_MS,
    async close() {
      await outbox.flush();
      closed = true;
      clearInterval(pinging);
      const open = client;
      client = undefined;
      ready = false;
      await open?.end().catch(() => {});
    },
  };
}
