import { getHeapStatistics } from "node:v8";
import { collectDefaultMetrics, Gauge, Registry } from "prom-client";
import { readConnections, readSlots } from "@/server/runs/engine/process-figures";
import type { Services } from "@/server/services";
import { listAllModels } from "@/server/work/models/catalog/find-model-facts";
import { type Backlogs, backlogsOf } from "./backlogs";
import { addCounter, addHistogram } from "./collected";

/** The registry of a process: what it counted, its state at the scrape, and what waits in the database. */

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
  // Gauges with a counter's suffix, which promtool reports. Each is the sum of the metric without the suffix.
  for (const kind of ["resources", "handles", "requests"])
    registry.removeSingleMetric(`nodejs_active_${kind}_total`);
  return registry;
}

function addProcessState(registry: Registry, services: Services): void {
  const { pool, env } = services;
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
      const { used, idle, waiting } = readConnections(pool);
      this.set({ state: "used" }, used);
      this.set({ state: "idle" }, idle);
      this.set({ state: "waiting" }, waiting);
    },
  });
  if (env.role === "web") return;
  new Gauge({
    name: "stepwell_slots",
    help: "Slots of this process by state.",
    labelNames: ["state"],
    registers,
    collect() {
      const { used, total } = readSlots(services);
      this.set({ state: "used" }, used);
      this.set({ state: "free" }, total - used);
    },
  });
}

// They are of the database: each process reports the same. While it cannot be read they are missing.
function addBacklogs(registry: Registry, services: Services): void {
  const read = backlogsOf(services);
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
  gauge("stepwell_queue_oldest_seconds", "The longest wait of a run in the queue.", (to, { queue }) => {
    for (const [name, { oldestSeconds }] of queue) to.set({ class: name }, oldestSeconds);
  });
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
