import { getHeapStatistics } from "node:v8";
import { collectDefaultMetrics, Gauge, Registry } from "prom-client";
import { sleep } from "@/server/base/sleep";
import type { Services } from "@/server/services";
import { listAllModels } from "@/server/work/models/catalog/find-model-facts";
import { type Backlogs, readBacklogs } from "./backlogs";
import { addCounter, addHistogram } from "./collected";

/** The registry of a process: what it counted, its state at the scrape, and what waits in the database. */

/** However many scrape. */
const READ_EVERY_MS = 5_000;
/** A scrape does not wait longer for the database. */
const PATIENCE_MS = 2_000;

export async function createRegistry(services: Services): Promise<Registry> {
  const registry = new Registry();
  const { metrics } = services;
  metrics.models.know(await listAllModels());
  const { calls, retries, tokens, credits, seconds, errors } = metrics.models;
  const { runsStarted, runsEnded, runSeconds, requests, requestSeconds, flushItems, rejections, steps } =
    metrics;
  for (const family of [
    runsStarted,
    runsEnded,
    requests,
    rejections,
    calls,
    retries,
    tokens,
    credits,
    errors,
  ])
    addCounter(registry, family);
  for (const family of [runSeconds, requestSeconds, flushItems, steps, seconds])
    addHistogram(registry, family);
  addProcessState(registry, services);
  addBacklogs(registry, services);
  collectDefaultMetrics({ register: registry });
  return registry;
}

function addProcessState(registry: Registry, { pool, engine, env }: Services): void {
  const registers = [registry];
  new Gauge({
    name: "stepwell_process_info",
    help: "1; the labels are the process's role and engine.",
    labelNames: ["role", "engine"],
    registers,
  }).set({ role: env.role, engine: env.inngest === undefined ? "embedded" : "inngest" }, 1);
  new Gauge({
    name: "stepwell_heap_limit_bytes",
    help: "The limit of the heap of this process.",
    registers,
  }).set(getHeapStatistics().heap_size_limit);
  new Gauge({
    name: "stepwell_database_connections",
    help: "Connections of the pool by state; `waiting`: callers that wait for one.",
    labelNames: ["state"],
    registers,
    collect() {
      this.set({ state: "used" }, pool.totalCount - pool.idleCount);
      this.set({ state: "idle" }, pool.idleCount);
      this.set({ state: "waiting" }, pool.waitingCount);
    },
  });
  if (env.role === "web") return;
  new Gauge({
    name: "stepwell_slots",
    help: "Slots of this process by state.",
    labelNames: ["state"],
    registers,
    collect() {
      const { total, free } = engine.slots();
      this.set({ state: "used" }, total - free);
      this.set({ state: "free" }, free);
    },
  });
}

/** They are of the database: each process reports the same. While it cannot be read they are missing. */
function addBacklogs(registry: Registry, services: Services): void {
  const read = createBacklogReader(services);
  const labelNames = ["class"];
  const registers = [registry];
  const gauge = (name: string, help: string, fill: (gauge: Gauge, backlogs: Backlogs) => void) =>
    new Gauge({
      name,
      help,
      labelNames,
      registers,
      async collect() {
        const backlogs = await read();
        this.reset();
        if (backlogs !== null) fill(this, backlogs);
      },
    });
  gauge(
    "stepwell_queue_runs",
    "Runs that wait for a slot, at most 1,000 of an organization. `at_limit`: of organizations whose plan allows no more at once.",
    (to, { queue }) => {
      for (const [name, { runs }] of queue) to.set({ class: name }, runs);
    },
  );
  gauge("stepwell_queue_organizations", "Organizations with waiting runs.", (to, { queue }) => {
    for (const [name, { organizations }] of queue) to.set({ class: name }, organizations);
  });
  gauge(
    "stepwell_queue_oldest_seconds",
    "How long the run has waited that waits longest.",
    (to, { queue }) => {
      for (const [name, { oldestSeconds }] of queue) to.set({ class: name }, oldestSeconds);
    },
  );
  new Gauge({
    name: "stepwell_backlog_rows",
    help: "Rows that wait for a job of the service, at most 10,000.",
    labelNames: ["kind"],
    registers,
    async collect() {
      const backlogs = await read();
      this.reset();
      for (const [kind, rows] of backlogs?.rows ?? []) this.set({ kind }, rows);
    },
  });
  new Gauge({
    name: "stepwell_database_reachable",
    help: "1 if the database answered the last scrape's statements within 2 s.",
    registers,
    async collect() {
      this.set((await read()) === null ? 0 : 1);
    },
  });
}

/** Reads at most once in five seconds. The result is null if the database does not answer in time. */
function createBacklogReader(services: Services): () => Promise<Backlogs | null> {
  let readAt = Number.NEGATIVE_INFINITY;
  let reading: Promise<Backlogs | null> = Promise.resolve(null);
  return () => {
    const now = services.clock.monotonicMs();
    if (now - readAt < READ_EVERY_MS) return reading;
    readAt = now;
    const answered = new AbortController();
    reading = Promise.race([readBacklogs(services), sleep(PATIENCE_MS, answered.signal).then(() => null)])
      .catch(() => null)
      .finally(() => answered.abort());
    return reading;
  };
}
