import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import { parser } from "@prometheus-io/lezer-promql";
import { expect, it, onTestFinished, vi } from "vitest";
import { parse } from "yaml";
import { z } from "zod";
import { freePort } from "@/scripts/support/ports.mjs";
import { ModelError, type ModelRequest } from "@/server/work/models/port";
import { createProcess, statementName } from "@/testing/process";
import { closeServer, listen } from "@/testing/servers/listen";
import { startOverRest } from "@/testing/services/built-service";
import { createTenant, openWorld, quietModels, setAgent, type Tenant } from "@/testing/world";
import { serveMetrics } from "./metrics-port";
import { createHandler } from "./requests";

/** Real scrapes after real runs, of processes as in production. */

const TOKEN = "metrics-token-metrics-token-metrics-token";
const UNKNOWN_MODEL = "acme-tuned-model";
const CATALOG_MODEL = "gpt-4o";
const FAILING_MODEL = "acme-failing-model";

const world = await openWorld();
async function callModel(request: ModelRequest) {
  if (request.model !== FAILING_MODEL) return quietModels.call(request);
  throw new ModelError("The provider is down.", { reason: "unavailable", attempts: [] });
}

async function startProcess(env: Record<string, string> = { STEPWELL_METRICS_TOKEN: TOKEN }) {
  const services = createProcess(world, { env, call: callModel });
  const state = { stopping: false };
  const server = createServer(createHandler(services, { showPage: null, dev: false, state }));
  // Now, not after all tests: together, the processes would need most of the cluster's connections.
  onTestFinished(async () => {
    await closeServer(server);
    await services.stop();
  });
  await services.engine.execute();
  return { services, origin: `http://127.0.0.1:${await listen(server)}` };
}

function ask(origin: string, token: string | null = TOKEN, path = "/api/metrics"): Promise<Response> {
  return fetch(origin + path, { headers: token === null ? {} : { Authorization: `Bearer ${token}` } });
}

async function scrape(origin: string): Promise<Map<string, number>> {
  const response = await ask(origin);
  expect(response.status).toBe(200);
  expect(response.headers.get("content-type")).toContain("text/plain; version=0.0.4");
  return readSamples(await response.text());
}

/** The samples by name and labels. Each line must be one, and none may appear twice. */
function readSamples(text: string): Map<string, number> {
  const samples = new Map<string, number>();
  for (const line of text.split("\n")) {
    if (line === "" || line.startsWith("#")) continue;
    const [, name = "", value = ""] = /^(\w+(?:\{[^}]*\})?) (\S+)$/.exec(line) ?? [];
    expect(name, line).not.toBe("");
    expect(samples.has(name), `twice: ${name}`).toBe(false);
    samples.set(name, Number(value.replace("Inf", "Infinity")));
  }
  return samples;
}

async function untilEnded(id: string): Promise<void> {
  const readEnd = async () => (await world.db.run.findUniqueOrThrow({ where: { id } })).finishedAt;
  await expect.poll(readEnd, { timeout: 30_000 }).not.toBeNull();
}

async function run(origin: string, { key, toolId, agentId }: Tenant, kind: "tool" | "agent"): Promise<void> {
  const [path, body] =
    kind === "tool"
      ? ([`tools/run/${toolId}`, '{"a":1,"b":2}'] as const)
      : ([`agents/run/${agentId}`, '{"userMessage":"Hi"}'] as const);
  await untilEnded(await startOverRest({ origin }, path, { key, body }));
}

it("a process shows what it did, and nothing of the organizations", async () => {
  const first = await startProcess();
  const tenants = [await createTenant(world), await createTenant(world), await createTenant(world)] as const;
  const [usual, tuned, failing] = tenants;
  await setAgent(world, tuned, { model: UNKNOWN_MODEL });
  await setAgent(world, failing, { model: FAILING_MODEL });
  await run(first.origin, usual, "tool");
  await run(first.origin, usual, "agent");
  await run(first.origin, tuned, "agent");
  await run(first.origin, failing, "agent");
  await fetch(`${first.origin}/v1/agents/run/${usual.agentId}/status`);

  // A run's end is counted, and its slot free, soon after its row has it.
  const readAll = async () => Object.fromEntries(await scrape(first.origin));
  await expect.poll(readAll).toMatchObject({
    'stepwell_runs_started_total{kind="tool",source="api"}': 1,
    'stepwell_runs_started_total{kind="agent",source="api"}': 3,
    'stepwell_runs_ended_total{kind="tool",status="Completed",source="api"}': 1,
    'stepwell_runs_ended_total{kind="agent",status="Completed",source="api"}': 2,
    'stepwell_runs_ended_total{kind="agent",status="Failed",source="api"}': 1,
    'stepwell_run_duration_seconds_count{kind="agent"}': 3,
    'stepwell_step_duration_seconds_count{function="calculate"}': 1,
    'stepwell_step_duration_seconds_bucket{function="calculate",le="+Inf"}': 1,
    'stepwell_model_calls_total{model="gpt-5-mini",outcome="completed"}': 1,
    'stepwell_model_calls_total{model="other",outcome="completed"}': 1,
    'stepwell_model_calls_total{model="other",outcome="failed"}': 1,
    'stepwell_model_tokens_total{model="gpt-5-mini",kind="input"}': 100,
    'stepwell_model_tokens_total{model="gpt-5-mini",kind="output"}': 10,
    'stepwell_model_credits_total{model="gpt-5-mini"}': 0.014,
    'stepwell_model_call_duration_seconds_count{model="gpt-5-mini"}': 1,
    'stepwell_provider_errors_total{kind="unavailable",provider="test"}': 1,
    'stepwell_rejections_total{code="unauthenticated"}': 1,
    'stepwell_http_requests_total{route="rest",status="200"}': 4,
    'stepwell_http_requests_total{route="rest",status="401"}': 1,
    'stepwell_http_request_duration_seconds_count{route="rest"}': 5,
    'stepwell_queue_runs{class="below_limit"}': 0,
    'stepwell_slots{state="used"}': 0,
    'stepwell_slots{state="free"}': 200,
    'stepwell_database_connections{state="waiting"}': 0,
    stepwell_database_reachable: 1,
    'stepwell_process_info{role="all",engine="embedded"}': 1,
  });
  const samples = await scrape(first.origin);
  expect(samples.get('stepwell_flush_items_count{lane="accounts"}')).toBeGreaterThan(0);
  expect(samples.has("nodejs_eventloop_lag_p99_seconds")).toBe(true);
  expect(samples.has("process_cpu_seconds_total")).toBe(true);
  expect(samples.size).toBeLessThan(300);

  const text = await (await ask(first.origin)).text();
  for (const { orgId, slug, key, agentId, toolId } of tenants)
    for (const own of [orgId, slug, key, agentId, toolId]) expect(text).not.toContain(own);
  for (const own of [UNKNOWN_MODEL, FAILING_MODEL, "helper", "adder"]) expect(text).not.toContain(own);

  const second = await startProcess();
  const ofSecond = [...(await scrape(second.origin)).keys()];
  expect(ofSecond.filter((name) => /^stepwell_(runs|model_calls)_/.test(name))).toEqual([]);
});

it("a run before the first scrape is counted by the name of its model", async () => {
  const tenant = await createTenant(world);
  await setAgent(world, tenant, { model: CATALOG_MODEL });
  const { services, origin } = await startProcess();
  onTestFinished(await serveMetrics(services));
  await run(origin, tenant, "agent");
  const calls = `stepwell_model_calls_total{model="${CATALOG_MODEL}",outcome="completed"}`;
  expect((await scrape(origin)).get(calls)).toBe(1);
});

it("the database is asked once in five seconds, however many scrape", async () => {
  const sampledAt = async () =>
    (await world.db.maintenanceJob.findUnique({ where: { name: "sample_queue" } }))?.finishedAt;
  const before = await sampledAt();
  const { services, origin } = await startProcess();
  // The process measures the queue for its history, too: at its start, and then each minute.
  await expect.poll(sampledAt).not.toEqual(before);
  const query = services.pool.query.bind(services.pool);
  const asked: string[] = [];
  const spy = vi.spyOn(services.pool, "query").mockImplementation((...args: unknown[]) => {
    asked.push(statementName(args) ?? "");
    return Reflect.apply(query, services.pool, args);
  });
  onTestFinished(() => spy.mockRestore());
  services.clock.monotonicMs = () => 1_000;
  await Promise.all(Array.from({ length: 20 }, () => scrape(origin)));
  services.clock.monotonicMs = () => 5_999;
  await scrape(origin);
  const times = (name: string) => asked.filter((each) => each === name).length;
  expect([times("queue-depth"), times("backlogs")]).toEqual([1, 1]);
  services.clock.monotonicMs = () => 6_000;
  await scrape(origin);
  expect([times("queue-depth"), times("backlogs")]).toEqual([2, 2]);
});

it("a scrape without the database has all else", async () => {
  const { services, origin } = await startProcess();
  const spy = vi.spyOn(services.pool, "query").mockRejectedValue(new Error("no database"));
  onTestFinished(() => spy.mockRestore());
  const samples = await scrape(origin);
  expect(samples.get("stepwell_database_reachable")).toBe(0);
  expect([...samples.keys()].some((name) => name.startsWith("stepwell_queue"))).toBe(false);
  expect(samples.has("process_cpu_seconds_total")).toBe(true);
});

it.each([
  [404, "without a setting", {}, TOKEN],
  [401, "without a token", { STEPWELL_METRICS_TOKEN: TOKEN }, null],
  [401, "with another token", { STEPWELL_METRICS_TOKEN: TOKEN }, `${TOKEN}x`],
  [200, "with the token", { STEPWELL_METRICS_TOKEN: TOKEN }, TOKEN],
  [
    404,
    "when they have their own port",
    { STEPWELL_METRICS_TOKEN: TOKEN, STEPWELL_METRICS_PORT: "4699" },
    TOKEN,
  ],
] as const)("%i on the service's port %s", async (status, _when, env, token) => {
  const { origin } = await startProcess(env);
  const response = await ask(origin, token);
  expect(response.status).toBe(status);
  if (status === 401) expect(response.headers.get("www-authenticate")).toBe("Bearer");
  if (status !== 200) expect(await response.json()).toMatchObject({ success: false });
});

it("their own port serves them and the probe of the process, and nothing else", async () => {
  const port = await freePort();
  const { services } = await startProcess({ HOST: "127.0.0.1", STEPWELL_METRICS_PORT: String(port) });
  const stop = await serveMetrics(services);
  onTestFinished(stop);
  const origin = `http://127.0.0.1:${port}`;
  for (const path of ["/metrics", "/api/metrics", "/api/health"])
    expect((await ask(origin, null, path)).status).toBe(200);
  for (const path of ["/", "/api/ready", "/v1/runs"])
    expect((await ask(origin, null, path)).status).toBe(404);
  await expect(serveMetrics(services)).rejects.toThrow(
    `STEPWELL_METRICS_PORT: cannot listen on port ${port}`,
  );
});

const readText = (path: string) => readFileSync(join(import.meta.dirname, "..", path), "utf8");

const alertRules = z.object({
  groups: z.array(z.object({ rules: z.array(z.object({ alert: z.string(), expr: z.string() })) })),
});
const dashboard = z.object({
  panels: z.array(z.object({ targets: z.array(z.object({ expr: z.string() })).default([]) })),
});

/** The metrics that an expression reads. Throws if it is no PromQL. */
function metricsOf(expression: string): string[] {
  // Grafana replaces its variables.
  const text = expression.replaceAll("$__rate_interval", "5m");
  const found: string[] = [];
  parser.parse(text).iterate({
    enter({ type, from, to, node }) {
      if (type.isError) throw new Error(`not PromQL at ${from}: ${text}`);
      if (type.name === "Identifier" && node.parent?.name === "VectorSelector")
        found.push(text.slice(from, to));
    },
  });
  return found;
}

it("the guide names every metric; dashboard and alerts read only what exists", async () => {
  const { origin } = await startProcess();
  const text = await (await ask(origin)).text();
  const types = new Map(
    [...text.matchAll(/^# TYPE (\S+) (\S+)$/gm)].map(([, name = "", type = ""]) => [name, type]),
  );
  const counters = [...types].filter(([, type]) => type === "counter").map(([name]) => name);
  expect([...types.keys()].filter((name) => name.endsWith("_total"))).toEqual(counters);
  const own = [...types.keys()].filter((name) => name.startsWith("stepwell_"));
  const guide = readText("docs/operating.md");
  const named = new Set(guide.match(/`stepwell_\w+`/g)?.map((name) => name.replaceAll("`", "")));
  expect([...named].sort()).toEqual(own.sort());

  const { groups } = alertRules.parse(parse(readText("deploy/prometheus/alerts.yaml")));
  const alerts = groups.flatMap(({ rules }) => rules);
  const runbook = [...guide.matchAll(/^\| `(Stepwell\w+)` \|/gm)].map(([, name]) => name);
  expect(runbook).toEqual(alerts.map(({ alert }) => alert));

  const { panels } = dashboard.parse(JSON.parse(readText("deploy/grafana/stepwell.json")));
  const charts = panels.flatMap(({ targets }) => targets);
  expect(charts.length).toBeGreaterThan(20);
  const exists = (metric: string) => {
    const histogram = metric.replace(/_(bucket|sum|count)$/, "");
    return metric === "up" || types.has(metric) || types.get(histogram) === "histogram";
  };
  // Other jobs have processes, too: "process_cpu_seconds_total" alone is every program that Prometheus scrapes.
  for (const { expr } of charts)
    expect(expr.split('{job=~"$job"'), expr).toHaveLength(metricsOf(expr).length + 1);
  for (const { expr } of [...alerts, ...charts]) {
    const metrics = metricsOf(expr);
    expect(metrics.length, expr).toBeGreaterThan(0);
    expect(metrics.filter((metric) => !exists(metric))).toEqual([]);
  }
  expect(() => metricsOf("sum(rate(stepwell_runs_ended_total[5m])")).toThrow("not PromQL");
});
