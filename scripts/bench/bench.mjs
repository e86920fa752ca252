import { execFileSync, spawn } from "node:child_process";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { cpus, tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { ROOT } from "../support/project.mjs";
import { cpuMs, memoryMb, postgresCpuMs, startBare, startModel, startService } from "./targets.mjs";

/**
 * `npm run bench`: measures polls, starts, webhooks, single runs and bursts over HTTP against the built service. It
 * measures a bare node:http server at the same time, whose figures show the speed of the machine. `--against REF` also
 * measures another commit, or a folder with its checkout, in alternation. Prints medians of the rounds.
 */
const { values: options } = parseArgs({
  options: {
    against: { type: "string" },
    rounds: { type: "string", default: "3" },
    seconds: { type: "string", default: "2" },
    /** The model's delay in ms before a reply. */
    delay: { type: "string", default: "0" },
  },
});
const ROUNDS = Number(options.rounds);
const SECONDS = Number(options.seconds);
const BURST = 200;
const SINGLE = 30;
const MESSAGE = JSON.stringify({ userMessage: "What is 6 * 7?" });

/** @typedef {Awaited<ReturnType<typeof startService>>} Service */
/** @typedef {{ count: number, beganAt: number, ms: number, p50: number, p95: number, failed: number, firstFailure: string, bodies: string[] }} Load */

/** @param {object} job @returns {Promise<Load>} */
function load(job) {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [join(ROOT, "scripts/bench/load.mjs")], {
      stdio: ["pipe", "pipe", "inherit"],
    });
    let text = "";
    child.stdout.on("data", (chunk) => {
      text += chunk;
    });
    child.on("exit", () => {
      const result = JSON.parse(text);
      if (result.failed > 0)
        reject(new Error(`${result.failed} of ${result.count} failed: ${result.firstFailure}`));
      else resolve(result);
    });
    child.stdin.end(JSON.stringify(job));
  });
}

/** @param {Pick<Service, "port" | "key">} service @param {string} path @param {string} [body] */
async function call(service, path, body) {
  const headers = { "X-API-Key": service.key, "Content-Type": "application/json" };
  const init = body === undefined ? { headers } : { method: "POST", headers, body };
  return (await fetch(`http://127.0.0.1:${service.port}${path}`, init)).json();
}

/**
 * @param {Pick<Service, "port" | "key">} service
 * @param {{ kind: "agents" | "tools", ids: string[], everyMs: number }} runs `everyMs`: how often they are polled
 */
async function untilEnded(service, { kind, ids, everyMs }) {
  let left = ids;
  while (left.length > 0) {
    const runs = await Promise.all(left.map((id) => call(service, `/v1/${kind}/run/${id}/status`)));
    for (const run of runs) if (run.status === "Failed") throw new Error(run.errorMessage);
    left = left.filter((_, index) => runs[index].status !== "Completed");
    if (left.length > 0) await new Promise((resolve) => setTimeout(resolve, everyMs));
  }
}

/** @param {Service} service @param {"agents" | "tools"} kind @returns {Promise<Load>} */
async function single(service, kind, tool = service.tool) {
  const [path, body] = kind === "agents" ? [service.agent, MESSAGE] : [tool, '{"a":1}'];
  /** @type {number[]} */
  const times = [];
  const beganAt = Date.now();
  const began = performance.now();
  for (let n = 0; n < SINGLE; n += 1) {
    const at = performance.now();
    const { id } = await call(service, path, body);
    await untilEnded(service, { kind, ids: [id], everyMs: 1 });
    times.push(performance.now() - at);
  }
  times.sort((a, b) => a - b);
  const part = (/** @type {number} */ share) => times[Math.floor(times.length * share)] ?? 0;
  return {
    count: SINGLE,
    beganAt,
    ms: performance.now() - began,
    p50: part(0.5),
    p95: part(0.95),
    failed: 0,
    firstFailure: "",
    bodies: [],
  };
}

/** A script beside a hundred runs of another organization whose scripts use up their memory. @param {Service} service */
async function besideEaters(service) {
  const eaters = { ...service.eaters, port: service.port };
  const started = await Promise.all(Array.from({ length: 100 }, () => call(eaters, eaters.tool, "{}")));
  const result = await single(service, "tools", service.script);
  await untilEnded(eaters, { kind: "tools", ids: started.map(({ id }) => id), everyMs: 200 });
  return result;
}

/** @param {Service} service @param {"agents" | "tools"} kind @returns {Promise<Load>} */
async function burst(service, kind) {
  const [path, body] = kind === "agents" ? [service.agent, MESSAGE] : [service.tool, '{"a":1}'];
  const sent = await starts(service, { connections: BURST, count: BURST, paths: [path], body });
  const ids = sent.bodies.map((text) => JSON.parse(text).id);
  await untilEnded(service, { kind, ids, everyMs: 20 });
  // Without the start of the load's process.
  return { ...sent, count: BURST, ms: Date.now() - sent.beganAt };
}

/** @param {Service} service @param {{ connections: number, count: number, paths: string[], body?: string }} job @returns {Promise<Load>} */
const starts = ({ port, key }, job) =>
  load({ port, method: "POST", headers: { "X-API-Key": key }, body: MESSAGE, ...job });

const PHASES = [
  {
    name: "poll of a finished run, 16 connections",
    run: (/** @type {Service} */ s, /** @type {string} */ runId) => poll(s, `/v1/agents/run/${runId}/status`),
  },
  { name: "poll of an executing run", run: (/** @type {Service} */ s) => pollRunning(s, "agents") },
  { name: "poll of a waiting run", run: (/** @type {Service} */ s) => pollRunning(s, "tools") },
  {
    name: "start, 16 connections",
    run: (/** @type {Service} */ s) => starts(s, { connections: 16, count: 1_500, paths: [s.agent] }),
    drains: true,
  },
  {
    name: "start, 1 connection",
    run: (/** @type {Service} */ s) => starts(s, { connections: 1, count: 300, paths: [s.agent] }),
    drains: true,
  },
  {
    name: "webhook, 16 connections",
    run: (/** @type {Service} */ s) => starts(s, { connections: 16, count: 1_000, paths: s.hooks }),
    drains: true,
  },
  { name: "one agent run", run: (/** @type {Service} */ s) => single(s, "agents") },
  { name: "one tool run", run: (/** @type {Service} */ s) => single(s, "tools") },
  {
    name: "one script",
    run: (/** @type {Service} */ s) => single(s, "tools", s.script),
  },
  { name: "one script beside 100 memory eaters", run: besideEaters },
  { name: "200 agent runs at once", run: (/** @type {Service} */ s) => burst(s, "agents") },
  { name: "200 tool runs at once", run: (/** @type {Service} */ s) => burst(s, "tools") },
];

/** The last runs that a load started. @param {Load} result */
const lastRuns = ({ bodies }) =>
  bodies.slice(-16).map((text) => {
    const { id, runId } = JSON.parse(text);
    return runId ?? id;
  });

/** @param {{ port: number, key: string }} service @param {string} path */
const poll = ({ port, key }, path) =>
  load({
    port,
    connections: 16,
    method: "GET",
    paths: [path],
    headers: { "X-API-Key": key },
    seconds: SECONDS,
  });

/**
 * A run that executes is answered from memory, one in a `wait` step from the database.
 * @param {Service} service @param {"agents" | "tools"} kind
 */
async function pollRunning(service, kind) {
  const [start, body] =
    kind === "agents" ? [service.agent, '{"userMessage":"Wait."}'] : [service.waiting, "{}"];
  const path = `/v1/${kind}/run/${(await call(service, start, body)).id}`;
  let run = { status: "Pending" };
  while (run.status !== "Running") run = await call(service, `${path}/status`);
  return poll(service, `${path}/status`);
}

/** @param {number[]} values */
const median = (values) => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
const round = (/** @type {number} */ value) =>
  value >= 100 ? Math.round(value) : Math.round(value * 100) / 100;

const clone =
  options.against !== undefined && !existsSync(join(options.against, "package.json"))
    ? cloneOf(options.against)
    : undefined;
const other = clone ?? options.against;
const model = await startModel(Number(options.delay));
const bare = await startBare();
/** @type {Service[]} */
const services = [];
try {
  services.push(await startService({ name: "this", root: ROOT, modelPort: model.port }));
  if (other !== undefined)
    services.push(await startService({ name: String(options.against), root: other, modelPort: model.port }));
  const runIds = new Map();
  for (const service of services) {
    const { id } = await call(service, service.agent, MESSAGE);
    await untilEnded(service, { kind: "agents", ids: [id], everyMs: 5 });
    runIds.set(service, id);
    console.log(`${service.name}: ready in ${Math.round(service.readyMs)} ms, ${memoryMb(service.pid)} MB`);
  }
  /** @type {Map<string, { perSecond: number, p50: number, p95: number, service: number, postgres: number }[]>} */
  const figures = new Map();
  const add = (/** @type {string} */ row, /** @type {any} */ figure) =>
    figures.set(row, [...(figures.get(row) ?? []), figure]);
  for (let n = 0; n < ROUNDS; n += 1) {
    const at = cpuMs(bare.pid);
    const plain = await poll({ port: bare.port, key: "none" }, "/");
    const cpu = (cpuMs(bare.pid) - at) / plain.count;
    add("poll of a finished run, 16 connections|bare node:http", {
      perSecond: (plain.count / plain.ms) * 1_000,
      p50: plain.p50,
      p95: plain.p95,
      service: cpu,
      postgres: 0,
    });
    for (const phase of PHASES) {
      for (const service of services) {
        const [own, database] = [cpuMs(service.pid), postgresCpuMs(service.postmaster)];
        const result = await phase.run(service, runIds.get(service));
        add(`${phase.name}|${service.name}`, {
          perSecond: (result.count / result.ms) * 1_000,
          p50: result.p50,
          p95: result.p95,
          service: (cpuMs(service.pid) - own) / result.count,
          postgres: (postgresCpuMs(service.postmaster) - database) / result.count,
        });
        // Starts go before the acts of runs, so their runs execute when the phase is over.
        if (phase.drains) await untilEnded(service, { kind: "agents", ids: lastRuns(result), everyMs: 100 });
      }
    }
  }
  console.log(
    `Node ${process.version}, ${cpus().length} × ${cpus()[0]?.model}, model delay ${options.delay} ms`,
  );
  console.table(
    [...figures].map(([row, parts]) => {
      const [what, target] = row.split("|");
      const of = (/** @type {"perSecond" | "p50" | "p95" | "service" | "postgres"} */ name) =>
        round(median(parts.map((part) => part[name])));
      return {
        what,
        target,
        perSecond: of("perSecond"),
        p50Ms: of("p50"),
        p95Ms: of("p95"),
        serviceCpuMs: of("service"),
        postgresCpuMs: of("postgres"),
      };
    }),
  );
  for (const service of services)
    console.log(`${service.name}: ${memoryMb(service.pid)} MB after all rounds`);
} finally {
  await Promise.all(services.map((service) => service.stop()));
  model.stop();
  bare.stop();
  if (clone !== undefined) rmSync(clone, { recursive: true, force: true });
}

/**
 * A clone of another commit; starting it installs its packages and builds it.
 * @param {string} ref
 */
function cloneOf(ref) {
  const folder = mkdtempSync(join(tmpdir(), "stepwell-bench-clone-"));
  execFileSync("git", ["clone", "-q", ROOT, folder]);
  const commit = execFileSync("git", ["rev-parse", ref]).toString().trim();
  execFileSync("git", ["checkout", "-q", commit], { cwd: folder });
  return folder;
}
