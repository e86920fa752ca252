import { Client, type ClientConfig, type Pool } from "pg";
import { sleep } from "@/server/db/outage";
import type { Logger } from "@/server/log";

const CHANNEL = "engine";
const RING_EVERY_MS = 20;
const GOODBYE_MS = 1_000;
const CONNECT_MS = 10_000;

/**
 * Tells the other processes on the database that there is work. It carries nothing and may be lost: who missed it
 * finds the work at the next poll.
 */
export type Doorbell = {
  /** Rings soon; many rings become one, outside any transaction (NOTIFY takes a lock at commit). */
  ring(): void;
  /** Sends a ring that is still to come now. */
  flush(): Promise<void>;
  /** Listens until `signal` is aborted, reconnecting for ever, and then resolves. */
  listen(signal: AbortSignal): Promise<void>;
};

/** Makes a doorbell. @param onRing is also called after each (re)connection, since rings may have been missed. */
export function createDoorbell(options: {
  pool: Pool;
  listenConfig: ClientConfig;
  log: Logger;
  onRing(): void;
}): Doorbell {
  const { pool, listenConfig, log, onRing } = options;
  let pending: NodeJS.Timeout | null = null;

  async function listenOnce(signal: AbortSignal): Promise<void> {
    const client = new Client({ keepAlive: true, connectionTimeoutMillis: CONNECT_MS, ...listenConfig });
    const lost = new Promise<void>((resolve) => {
      // Without an error handler a restart of Postgres would take the process down.
      client.on("error", () => resolve());
      client.on("end", () => resolve());
      signal.addEventListener("abort", () => resolve(), { once: true });
    });
    client.on("notification", onRing);
    try {
      await client.connect();
      await client.query(`LISTEN ${CHANNEL}`);
      onRing();
      await lost;
    } finally {
      // A connection whose other end is gone may never say goodbye.
      await Promise.race([client.end().catch(() => {}), sleep(GOODBYE_MS, new AbortController().signal)]);
    }
  }

  async function flush(): Promise<void> {
    if (pending === null) return;
    clearTimeout(pending);
    pending = null;
    await pool
      .query(`NOTIFY ${CHANNEL}`)
      .catch((error) => log.debug("could not ring the doorbell", { error }));
  }

  return {
    ring() {
      pending ??= setTimeout(flush, RING_EVERY_MS);
    },
    flush,
    async listen(signal) {
      for (let delay = 100; !signal.aborted; delay = Math.min(delay * 2, 2_000)) {
        const since = Date.now();
        await listenOnce(signal).catch((error) => log.debug("the doorbell cannot connect", { error }));
        if (Date.now() - since > 10_000) delay = 100;
        if (!signal.aborted) await sleep(delay, signal);
      }
    },
  };
}
