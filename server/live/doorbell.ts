import pg from "pg";
import { z } from "zod";
import type { Services } from "@/server/services";

/**
 * Tells every process that a run changed. Writers ring after their commit; one LISTEN connection per process
 * hears it and hands it to whoever is subscribed. A ring carries only ids and the run's sequence: it may be lost
 * (a restart of PostgreSQL, a killed process), so that subscribers also look at the rows now and then.
 */

const CHANNEL = "stepwell_runs";
/** Rings of the same run within this time become one. */
const COALESCE_MS = 20;
/** NOTIFY carries at most 8,000 bytes: about 90 rings. */
const RINGS_PER_NOTIFICATION = 80;
const RECONNECT_MS = 1_000;
const CONNECT_MS = 10_000;
/** A LISTEN connection nobody needs any more is given back after this time. */
const IDLE_MS = 30_000;

/** What changed: the run, and its sequence after the change. */
export type Ring = { orgId: string; runId: string; sequence: number };
type Listener = (ring: Ring) => void;
export type Subscription = {
  /** Whether rings arrive at the moment; while false, poll. */
  connected(): boolean;
  unsubscribe(): void;
};

type Sender = Pick<Services, "pool" | "log">;

/**
 * Says that a run, its steps or its model calls changed. Call after the commit. Never throws and never waits:
 * rings are gathered for a moment and sent together, outside the writer's transaction.
 */
export function ringRun(services: Sender, orgId: string, runId: string, sequence: number): void {
  const outbox = outboxOf(services);
  const known = outbox.rings.get(runId);
  if (!known || known.sequence < sequence) outbox.rings.set(runId, { orgId, runId, sequence });
  outbox.timer ??= setTimeout(() => void flush(services, outbox), COALESCE_MS);
}

/** Sends what was gathered now; for the end of a process. */
export async function flushRings(services: Sender): Promise<void> {
  await flush(services, outboxOf(services));
}

type Outbox = { rings: Map<string, Ring>; timer: NodeJS.Timeout | undefined };
const outboxes = new WeakMap<object, Outbox>();

function outboxOf(services: Sender): Outbox {
  const known = outboxes.get(services.pool);
  if (known) return known;
  const outbox: Outbox = { rings: new Map(), timer: undefined };
  outboxes.set(services.pool, outbox);
  return outbox;
}

async function flush(services: Sender, outbox: Outbox): Promise<void> {
  clearTimeout(outbox.timer);
  outbox.timer = undefined;
  const rings = [...outbox.rings.values()];
  outbox.rings.clear();
  if (rings.length === 0) return;
  const payloads: string[] = [];
  for (let start = 0; start < rings.length; start += RINGS_PER_NOTIFICATION) {
    const part = rings.slice(start, start + RINGS_PER_NOTIFICATION);
    payloads.push(part.map((ring) => `${ring.orgId}:${ring.runId}:${ring.sequence}`).join(" "));
  }
  try {
    await services.pool.query("SELECT pg_notify($1, payload) FROM unnest($2::text[]) AS payload", [
      CHANNEL,
      payloads,
    ]);
  } catch (error) {
    services.log.warn("a live notification was lost; pages will catch up by polling", { error });
  }
}

const ringText = z
  .string()
  .regex(/^[^:]+:[^:]+:\d+$/)
  .transform((text) => {
    const [orgId = "", runId = "", sequence = "0"] = text.split(":");
    return { orgId, runId, sequence: Number(sequence) };
  });

/** One process's ear: a LISTEN connection of its own, opened with the first subscriber. */
class Doorbell {
  readonly #url: string;
  readonly #log: Services["log"];
  readonly #byRun = new Map<string, Set<Listener>>();
  readonly #byOrg = new Map<string, Set<Listener>>();
  #client: pg.Client | undefined;
  #connected = false;
  #retry: NodeJS.Timeout | undefined;
  #idle: NodeJS.Timeout | undefined;

  constructor(services: Pick<Services, "env" | "log">) {
    this.#url = services.env.databaseUrl;
    this.#log = services.log;
  }

  subscribe(map: "run" | "org", key: string, listener: Listener): Subscription {
    const listeners = map === "run" ? this.#byRun : this.#byOrg;
    const set = listeners.get(key) ?? new Set();
    set.add(listener);
    listeners.set(key, set);
    clearTimeout(this.#idle);
    this.#open();
    return {
      connected: () => this.#connected,
      unsubscribe: () => {
        set.delete(listener);
        if (set.size === 0 && listeners.get(key) === set) listeners.delete(key);
        if (this.#unused()) {
          clearTimeout(this.#idle);
          this.#idle = setTimeout(() => this.#unused() && void this.close(), IDLE_MS);
          this.#idle.unref();
        }
      },
    };
  }

  #unused(): boolean {
    return this.#byRun.size === 0 && this.#byOrg.size === 0;
  }

  #open(): void {
    if (this.#client) return;
    const client = new pg.Client({
      connectionString: this.#url,
      application_name: "stepwell live",
      keepAlive: true,
      connectionTimeoutMillis: CONNECT_MS,
    });
    this.#client = client;
    client.on("notification", ({ payload }) => this.#hear(payload ?? ""));
    client.on("error", (error) => this.#lose(client, error));
    client.on("end", () => this.#lose(client, undefined));
    client
      .connect()
      .then(() => client.query(`LISTEN ${CHANNEL}`))
      .then(() => {
        if (this.#client === client) this.#connected = true;
      })
      .catch((error: unknown) => this.#lose(client, error));
  }

  #lose(client: pg.Client, error: unknown): void {
    if (this.#client !== client) return;
    this.#client = undefined;
    this.#connected = false;
    client.end().catch(() => {});
    if (this.#unused()) return;
    if (error) this.#log.warn("live notifications are interrupted; pages poll meanwhile", { error });
    clearTimeout(this.#retry);
    this.#retry = setTimeout(() => this.#unused() || this.#open(), RECONNECT_MS);
    this.#retry.unref();
  }

  #hear(payload: string): void {
    for (const text of payload.split(" ")) {
      const parsed = ringText.safeParse(text);
      if (!parsed.success) continue;
      for (const listener of this.#byRun.get(parsed.data.runId) ?? []) listener(parsed.data);
      for (const listener of this.#byOrg.get(parsed.data.orgId) ?? []) listener(parsed.data);
    }
  }

  async close(): Promise<void> {
    clearTimeout(this.#retry);
    clearTimeout(this.#idle);
    const client = this.#client;
    this.#client = undefined;
    this.#connected = false;
    await client?.end().catch(() => {});
  }
}

declare global {
  var stepwellDoorbells: WeakMap<object, Doorbell> | undefined;
}

/** Kept on globalThis: Next bundles its own copy of this module, and the end of the process must close its ear too. */
function doorbellsOfProcess(): WeakMap<object, Doorbell> {
  globalThis.stepwellDoorbells ??= new WeakMap();
  return globalThis.stepwellDoorbells;
}

function doorbellOf(services: Pick<Services, "env" | "log" | "pool">): Doorbell {
  const doorbells = doorbellsOfProcess();
  const known = doorbells.get(services.pool);
  if (known) return known;
  const doorbell = new Doorbell(services);
  doorbells.set(services.pool, doorbell);
  return doorbell;
}

/** Hears the rings of one run. */
export function subscribeToRun(
  services: Pick<Services, "env" | "log" | "pool">,
  runId: string,
  listener: Listener,
): Subscription {
  return doorbellOf(services).subscribe("run", runId, listener);
}

/** Hears the rings of all runs of one organization. */
export function subscribeToOrganization(
  services: Pick<Services, "env" | "log" | "pool">,
  orgId: string,
  listener: Listener,
): Subscription {
  return doorbellOf(services).subscribe("org", orgId, listener);
}

/** Gives the LISTEN connection back; for the end of a process. */
export async function closeDoorbell(services: Pick<Services, "env" | "log" | "pool">): Promise<void> {
  await doorbellsOfProcess().get(services.pool)?.close();
}
