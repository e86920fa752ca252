import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { Agent, request } from "node:http";
import { cpus, tmpdir } from "node:os";
import { join } from "node:path";
import { performance } from "node:perf_hooks";
import { parseArgs } from "node:util";
import { z } from "zod";
import { startModelServer } from "@/server/testing/model-server";
import { freePort } from "../ports.mjs";

/**
 * Measures start, poll and whole agent runs over real HTTP against the built service on a throwaway data folder, beside
 * a bare node:http server in the same run, whose figures say how fast the machine is at that moment. With
 * `--against REF` another commit is built in a temporary clone and measured in turn with this one; a folder that holds
 * it serves as well, and spares the build the next time. Figures go to standard
 * output; CPU is the service's own process without PostgreSQL, and Linux only.
 *
 *   npx esbuild scripts/bench/http.ts --bundle --platform=node --format=esm --packages=external \
 *     --outfile=node_modules/.cache/stepwell/bench-http.mjs && node node_modules/.cache/stepwell/bench-http.mjs
 */
const { values: options } = parseArgs({
  options: {
    against: { type: "string" },
    rounds: { type: "string", default: "4" },
    seconds: { type: "string", default: "2" },
    /** A folder for a CPU profile of this commit's service. */
    profile: { type: "string" },
  },
});
const ROUNDS = Number(options.rounds);
const PHASE_MS = Number(options.seconds) * 1_000;
const CONNECTIONS = 8;
const SINGLE_RUNS = 20;
const BURST_RUNS = 100;
/** Many keys, so that no key's window of calls grows beyond what the usual limits let it. */
const KEYS = 60;

const definition = `organizations:
  - slug: bench
    name: Bench
    plan: { apiAccess: true, startsPerMinute: 100000, readsPerMinute: 100000, concurrency: 40 }
    credits: 1000000
    apiKeys: [${Array.from({ length: KEYS }, (_, n) => `{ name: k${n} }`).join(", ")}]
    agents:
      - { slug: helper, name: Helper, model: bench, systemPrompt: You help., functions: [calculate] }
`;
const applied = z.object({
  organizations: z.tuple([
    z.object({
      agents: z.tuple([z.object({ id: z.string() })]),
      apiKeys: z.array(z.object({ key: z.string() })),
    }),
  ]),
});
const started = z.object({ id: z.string() });

type Target = {
  name: string;
  process: ChildProcess;
  pid: number;
  port: number;
  keys: string[];
  agentId: string;
  runId: string;
  stop(): Promise<void>;
};
type Answer = { status: number; body: string };
type Measured = { times: number[]; ms: number; cpuMicros: number };

const agent = new Agent({ keepAlive: true, maxSockets: 64 });
let turn = 0;

function call(target: Target, method: string, path: string, body?: string): Promise<Answer> {
  const key = target.keys[turn++ % target.keys.length] ?? "";
  const headers = { "X-API-Key": key, ...(body === undefined ? {} : { "Content-Type": "application/json" }) };
  return new Promise((resolve, reject) => {
    const outgoing = request(
      { agent, host: "127.0.0.1", port: target.port, method, path, headers },
      (response) => {
        const chunks: Buffer[] = [];
        response.on("data", (chunk: Buffer) => chunks.push(chunk));
        response.on("end", () =>
          resolve({ status: response.statusCode ?? 0, body: Buffer.concat(chunks).toString() }),
        );
      },
    );
    outgoing.on("error", reject);
    outgoing.end(body);
  });
}

const message = JSON.stringify({ userMessage: "bench: what is 6 * 7?" });
const start = (target: Target) => call(target, "POST", `/v1/agents/run/${target.agentId}`, message);
const poll = (target: Target, runId = target.runId) => call(target, "GET", `/v1/agents/run/${runId}/status`);

async function startOne(target: Target): Promise<string> {
  const { status, body } = await start(target);
  if (status !== 200) throw new Error(`${target.name}: a start was answered ${status}: ${body}`);
  return started.parse(JSON.parse(body)).id;
}

/** Polls as often as `everyMs` says: often shows a run's own time, seldom leaves the machine to many runs. */
async function untilCompleted(target: Target, runId: string, everyMs = 5): Promise<void> {
  for (;;) {
    const { body } = await poll(target, runId);
    if (body.includes('"Completed"')) return;
    if (!/"(Pending|Running)"/.test(body)) throw new Error(`${target.name}: ${body}`);
    await new Promise((resolve) => setTimeout(resolve, everyMs));
  }
}

/** User and system time of a process so far; the kernel counts in hundredths of a second. */
function cpuMicrosOf(pid: number): number {
  try {
    const fields = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1]?.split(" ") ?? [];
    return (Number(fields[11]) + Number(fields[12])) * 10_000;
  } catch {
    return Number.NaN;
  }
}

async function measure(
  target: Target,
  connections: number,
  one: () => Promise<unknown>,
  isOver: (done: number, ms: number) => boolean,
): Promise<Measured> {
  const times: number[] = [];
  const cpu = cpuMicrosOf(target.pid);
  const began = performance.now();
  let taken = 0;
  const work = async () => {
    while (!isOver(taken++, performance.now() - began)) {
      const at = performance.now();
      await one();
      times.push(performance.now() - at);
    }
  };
  await Promise.all(Array.from({ length: connections }, work));
  return { times, ms: performance.now() - began, cpuMicros: cpuMicrosOf(target.pid) - cpu };
}

const forAWhile = (_done: number, ms: number) => ms > PHASE_MS;
const times = (count: number) => (done: number) => done >= count;

function untilSaid(process: ChildProcess, word: string): Promise<void> {
  return new Promise((resolve, reject) => {
    let said = "";
    for (const stream of [process.stdout, process.stderr]) {
      stream?.on("data", (chunk) => {
        said += chunk;
        if (said.includes(word)) resolve();
      });
    }
    process.on("exit", () => reject(new Error(`The service ended:\n${said}`)));
  });
}

function ended(process: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  return new Promise((resolve) => {
    process.removeAllListeners("exit").on("exit", () => resolve());
    process.kill(signal);
  });
}

/** A server that does nothing but answer, with a body of the size of a status. */
async function startBare(): Promise<Target> {
  const port = await freePort();
  const script = `require("node:http").createServer((q, a) => { q.resume(); q.on("end", () => {
    a.setHeader("Content-Type", "application/json; charset=utf-8"); a.end(JSON.stringify({ filler: "x".repeat(350) })); });
  }).listen(${port}, "127.0.0.1", () => console.log("ready"))`;
  const child = spawn(process.execPath, ["-e", script], { stdio: ["ignore", "pipe", "pipe"] });
  await untilSaid(child, "ready");
  const bare = { name: "bare node:http", process: child, pid: child.pid ?? 0, port, keys: ["none"] };
  return { ...bare, agentId: "x", runId: "x", stop: () => ended(child, "SIGTERM") };
}

async function startService(name: string, root: string, modelUrl: string, profile?: string): Promise<Target> {
  const port = await freePort();
  const folder = mkdtempSync(join(tmpdir(), "stepwell-bench-"));
  const env = {
    ...process.env,
    PORT: String(port),
    APP_URL: "",
    DATABASE_URL: "",
    STEPWELL_SECRET: "",
    STEPWELL_DATA_DIR: folder,
    OPENAI_BASE_URL: modelUrl,
    OPENAI_API_KEY: "bench",
    LOG_LEVEL: "warn",
  };
  const flags = profile === undefined ? [] : ["--cpu-prof", `--cpu-prof-dir=${profile}`];
  const child = spawn(process.execPath, [...flags, "scripts/start.mjs"], {
    cwd: root,
    env,
    stdio: ["ignore", "pipe", "pipe"],
  });
  await untilSaid(child, "Stop with Ctrl-C");
  writeFileSync(join(folder, "bench.yaml"), definition);
  const out = execFileSync(
    process.execPath,
    ["scripts/stepwell.mjs", "apply", join(folder, "bench.yaml"), "--json"],
    { cwd: root, env, stdio: ["ignore", "pipe", "ignore"] },
  ).toString();
  const [{ agents, apiKeys }] = applied.parse(JSON.parse(out)).organizations;
  const target: Target = {
    name,
    process: child,
    pid: child.pid ?? 0,
    port,
    keys: apiKeys.map(({ key }) => key),
    agentId: agents[0].id,
    runId: "",
    async stop() {
      await ended(child, "SIGINT");
      rmSync(folder, { recursive: true, force: true });
    },
  };
  target.runId = await startOne(target);
  await untilCompleted(target, target.runId);
  return target;
}

/** A clone of another commit beside this one; starting it installs its packages and builds it. */
function cloneOf(ref: string): string {
  const folder = mkdtempSync(join(tmpdir(), "stepwell-bench-clone-"));
  execFileSync("git", ["clone", "-q", process.cwd(), folder]);
  const commit = execFileSync("git", ["rev-parse", ref]).toString().trim();
  execFileSync("git", ["checkout", "-q", commit], { cwd: folder });
  return folder;
}

const rounded = (value: number, digits: number) =>
  Number.isFinite(value) ? Number(value.toFixed(digits)) : null;

function summarize(parts: Measured[]) {
  const sorted = parts.flatMap((part) => part.times).toSorted((a, b) => a - b);
  const at = (share: number) => rounded(sorted[Math.floor(sorted.length * share)] ?? Number.NaN, 2);
  const ms = parts.reduce((sum, part) => sum + part.ms, 0);
  const cpu = parts.reduce((sum, part) => sum + part.cpuMicros, 0);
  return {
    count: sorted.length,
    perSecond: rounded(sorted.length / (ms / 1_000), 0),
    p50Ms: at(0.5),
    p99Ms: at(0.99),
    cpuMicros: rounded(cpu / sorted.length, 0),
  };
}

async function main(): Promise<void> {
  const models = await startModelServer();
  models.script(
    "bench:",
    { calls: [{ name: "calculate", arguments: { expression: "6 * 7" } }] },
    { content: "42" },
  );
  const { against } = options;
  const isFolder = against !== undefined && existsSync(join(against, "package.json"));
  const clone = against === undefined || isFolder ? undefined : cloneOf(against);
  const other = isFolder ? against : clone;
  const services: Target[] = [];
  const bare = await startBare();
  try {
    services.push(await startService("this", process.cwd(), models.url, options.profile));
    if (other !== undefined) services.push(await startService(against ?? other, other, models.url));

    type Phase = { name: string; run(target: Target): Promise<Measured>; bare: boolean };
    const phases: Phase[] = [
      { name: "poll, 1 connection", bare: true, run: (t) => measure(t, 1, () => poll(t), forAWhile) },
      {
        name: `poll, ${CONNECTIONS} connections`,
        bare: true,
        run: (t) => measure(t, CONNECTIONS, () => poll(t), forAWhile),
      },
      {
        name: "whole run of 2 model calls, one at a time",
        bare: false,
        run: (t) =>
          measure(t, 1, async () => untilCompleted(t, await startOne(t)), times(SINGLE_RUNS / ROUNDS)),
      },
      {
        name: `burst of ${BURST_RUNS} runs, start to end`,
        bare: false,
        run: (t) =>
          measure(t, BURST_RUNS, async () => untilCompleted(t, await startOne(t), 100), times(BURST_RUNS)),
      },
      {
        name: `start, ${CONNECTIONS} connections, runs going on beside`,
        bare: true,
        run: async (t) => {
          const measured = await measure(t, CONNECTIONS, () => start(t), times(200));
          if (t !== bare) await untilCompleted(t, await startOne(t));
          return measured;
        },
      },
    ];
    const figures = new Map<string, Measured[]>();
    for (let round = 0; round < ROUNDS; round++) {
      for (const phase of phases) {
        for (const target of [...(phase.bare ? [bare] : []), ...services]) {
          const row = `${phase.name}|${target.name}`;
          figures.set(row, [...(figures.get(row) ?? []), await phase.run(target)]);
        }
      }
    }
    const table = phases.flatMap((phase) =>
      [bare, ...services].flatMap(({ name }) => {
        const parts = figures.get(`${phase.name}|${name}`);
        if (parts === undefined) return [];
        const sum = summarize(parts);
        const bareParts = figures.get(`${phase.name}|${bare.name}`);
        const own = bareParts === undefined ? null : summarize(bareParts).cpuMicros;
        const timesBare =
          own === null || own === 0 || sum.cpuMicros === null ? null : rounded(sum.cpuMicros / own, 1);
        return [{ what: phase.name, target: name, ...sum, timesBareCpu: timesBare }];
      }),
    );
    console.log(
      `Node ${process.version}, ${cpus().length} × ${cpus()[0]?.model}, ${new Date().toISOString()}`,
    );
    console.table(table);
  } finally {
    await Promise.all([bare, ...services].map((target) => target.stop()));
    agent.destroy();
    await models.close();
    if (clone !== undefined) rmSync(clone, { recursive: true, force: true });
  }
}

await main();
