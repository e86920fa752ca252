import { execFileSync, fork } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import { cpus, tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";
import { serveModel } from "../support/chat-completions";
import { cpuMs, memoryMb, postgresCpuMs } from "../support/linux-processes";
import { listen } from "../support/ports.mjs";
import { ROOT } from "../support/project.mjs";
import { generateLoad, type Load, type LoadJob, summarize } from "./load";
import { type Service, startService } from "./service";

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
  allowPositionals: true,
});
const BURST = 200;
const SINGLE = 30;
const EATERS = 100;
const MESSAGE = JSON.stringify({ userMessage: "What is 6 * 7?" });

/** Serves the model and a bare HTTP server. In a process of their own, so that they are not measured with the load. */
async function serveOthers() {
  const calls = [{ name: "calculate", input: { expression: "6 * 7" } }];
  const model = await serveModel((messages) => ({
    content: "42",
    calls: messages.filter(({ role }) => role === "tool").length < 2 ? calls : [],
    delayMs: messages.at(-1)?.content === "Wait." ? 20_000 : Number(options.delay),
  }));
  // As large as a run's status.
  const body = JSON.stringify({ filler: "x".repeat(350) });
  const headers = { "Content-Type": "application/json; charset=utf-8", "Content-Length": body.length };
  const bare = createServer((_incoming, outgoing) => outgoing.writeHead(200, headers).end(body));
  return { model: model.port, bare: await listen(bare) };
}

type Caller = Pick<Service, "port" | "key">;
type Kind = "agents" | "tools";

async function call({ port, key }: Caller, path: string, body?: string) {
  const headers = { "X-API-Key": key, "Content-Type": "application/json" };
  const init = body === undefined ? { headers } : { method: "POST", headers, body };
  return (await fetch(`http://127.0.0.1:${port}${path}`, init)).json();
}

/** `everyMs`: how often the runs are polled. */
async function untilEnded(
  caller: Caller,
  { kind, ids, everyMs }: { kind: Kind; ids: string[]; everyMs: number },
): Promise<void> {
  let left = ids;
  while (left.length > 0) {
    const runs = await Promise.all(left.map((id) => call(caller, `/v1/${kind}/run/${id}/status`)));
    for (const run of runs) if (run.status === "Failed") throw new Error(run.errorMessage);
    left = left.filter((_, index) => runs[index].status !== "Completed");
    if (left.length > 0) await sleep(everyMs);
  }
}

const poll = ({ port, key }: Caller, path: string) =>
  generateLoad({ port, key, connections: 16, paths: [path], seconds: Number(options.seconds) });

/** A run that executes is answered from memory, one in a `wait` step from the database. */
async function pollRunning(service: Service, kind: Kind): Promise<Load> {
  const [start, body] =
    kind === "agents" ? [service.agent, '{"userMessage":"Wait."}'] : [service.waiting, "{}"];
  const path = `/v1/${kind}/run/${(await call(service, start, body)).id}/status`;
  while ((await call(service, path)).status !== "Running");
  return poll(service, path);
}

/** Starts agent runs. `open` are the last of them, which execute when the load is over. */
async function starts(
  { port, key }: Caller,
  job: Pick<LoadJob, "connections" | "count" | "paths">,
): Promise<Phase> {
  const result = await generateLoad({ port, key, body: MESSAGE, ...job });
  return { ...result, open: result.bodies.slice(-16).map(idOf) };
}

function idOf(body: string): string {
  const { id, runId } = JSON.parse(body);
  return runId ?? id;
}

async function single(service: Service, kind: Kind, tool = service.tool): Promise<Phase> {
  const [path, body] = kind === "agents" ? [service.agent, MESSAGE] : [tool, '{"a":1}'];
  const times: number[] = [];
  const began = performance.now();
  for (let n = 0; n < SINGLE; n += 1) {
    const at = performance.now();
    const { id } = await call(service, path, body);
    await untilEnded(service, { kind, ids: [id], everyMs: 1 });
    times.push(performance.now() - at);
  }
  return { ...summarize(times), ms: performance.now() - began };
}

/** A script beside runs of another organization whose scripts use up their memory. */
async function besideEaters(service: Service): Promise<Phase> {
  const { eaters } = service;
  const started = await Promise.all(Array.from({ length: EATERS }, () => call(eaters, eaters.tool, "{}")));
  const result = await single(service, "tools", service.script);
  await untilEnded(eaters, { kind: "tools", ids: started.map(({ id }) => id), everyMs: 200 });
  return result;
}

async function burst(service: Service, kind: Kind): Promise<Phase> {
  const { port, key, agent, tool } = service;
  const [path, body] = kind === "agents" ? [agent, MESSAGE] : [tool, '{"a":1}'];
  const began = performance.now();
  const sent = await generateLoad({ port, key, connections: BURST, count: BURST, paths: [path], body });
  await untilEnded(service, { kind, ids: sent.bodies.map(idOf), everyMs: 20 });
  return { ...sent, ms: performance.now() - began };
}

type Phase = Pick<Load, "count" | "ms" | "p50" | "p95"> & { open?: string[] };

const POLL = "poll of a finished run, 16 connections";
const PHASES: Record<string, (service: Service, runId: string) => Promise<Phase>> = {
  [POLL]: (service, runId) => poll(service, `/v1/agents/run/${runId}/status`),
  "poll of an executing run": (service) => pollRunning(service, "agents"),
  "poll of a waiting run": (service) => pollRunning(service, "tools"),
  "start, 16 connections": (service) =>
    starts(service, { connections: 16, count: 1_500, paths: [service.agent] }),
  "start, 1 connection": (service) => starts(service, { connections: 1, count: 300, paths: [service.agent] }),
  "webhook, 16 connections": (service) =>
    starts(service, { connections: 16, count: 1_000, paths: service.hooks }),
  "one agent run": (service) => single(service, "agents"),
  "one tool run": (service) => single(service, "tools"),
  "one script": (service) => single(service, "tools", service.script),
  [`one script beside ${EATERS} memory eaters`]: besideEaters,
  [`${BURST} agent runs at once`]: (service) => burst(service, "agents"),
  [`${BURST} tool runs at once`]: (service) => burst(service, "tools"),
};

const FIGURES = ["perSecond", "p50Ms", "p95Ms", "serviceCpuMs", "postgresCpuMs"] as const;
type Row = { what: string; target: string } & Record<(typeof FIGURES)[number], number>;
/** One row for each phase, target and round. */
const rows: Row[] = [];

type Target = { name: string; pid: number; postmaster?: number };

async function measure(what: string, { name, pid, postmaster }: Target, run: () => Promise<Phase>) {
  const readCpu = () => [cpuMs(pid), postmaster === undefined ? 0 : postgresCpuMs(postmaster)] as const;
  const [service, postgres] = readCpu();
  const { count, ms, p50, p95, open = [] } = await run();
  const [serviceAfter, postgresAfter] = readCpu();
  rows.push({
    what,
    target: name,
    perSecond: (count / ms) * 1_000,
    p50Ms: p50,
    p95Ms: p95,
    serviceCpuMs: (serviceAfter - service) / count,
    postgresCpuMs: (postgresAfter - postgres) / count,
  });
  return open;
}

/** One row for each phase and target. */
function medians(): Row[] {
  const first = rows.filter(
    (row, index) =>
      rows.findIndex(({ what, target }) => what === row.what && target === row.target) === index,
  );
  return first.map((row) => {
    const same = rows.filter(({ what, target }) => what === row.what && target === row.target);
    const found = FIGURES.map((name) => {
      const { p50 } = summarize(same.map((each) => each[name]));
      return [name, p50 >= 100 ? Math.round(p50) : Math.round(p50 * 100) / 100];
    });
    return { ...row, ...Object.fromEntries(found) };
  });
}

async function main(): Promise<void> {
  const { against, delay } = options;
  const isRef = against !== undefined && !existsSync(join(against, "package.json"));
  const clone = isRef ? cloneOf(against) : undefined;
  const others = fork(import.meta.filename, ["others", ...process.argv.slice(2)]);
  const [ports] = await once(others, "message");
  const services: { service: Service; runId: string }[] = [];
  try {
    for (const [name, root] of Object.entries({
      this: ROOT,
      ...(against && { [against]: clone ?? against }),
    })) {
      const service = await startService({ name, root, modelPort: ports.model });
      const { id: runId } = await call(service, service.agent, MESSAGE);
      services.push({ service, runId });
      await untilEnded(service, { kind: "agents", ids: [runId], everyMs: 5 });
      console.log(`${name}: ready in ${Math.round(service.readyMs)} ms, ${memoryMb(service.pid)} MB`);
    }
    for (let n = 0; n < Number(options.rounds); n += 1) {
      const bare = { name: "bare node:http", pid: others.pid ?? 0 };
      await measure(POLL, bare, () => poll({ port: ports.bare, key: "none" }, "/"));
      for (const [what, run] of Object.entries(PHASES)) {
        for (const { service, runId } of services) {
          const open = await measure(what, service, () => run(service, runId));
          // Starts go before the acts of runs, so their runs execute when the phase is over.
          await untilEnded(service, { kind: "agents", ids: open, everyMs: 100 });
        }
      }
    }
    console.log(`Node ${process.version}, ${cpus().length} × ${cpus()[0]?.model}, model delay ${delay} ms`);
    console.table(medians());
    for (const { service } of services)
      console.log(`${service.name}: ${memoryMb(service.pid)} MB after all rounds`);
  } finally {
    await Promise.all(services.map(({ service }) => service.stop()));
    others.kill();
    if (clone !== undefined) rmSync(clone, { recursive: true, force: true });
  }
}

/** A clone of another commit; starting it installs its packages and builds it. */
function cloneOf(ref: string): string {
  const folder = mkdtempSync(join(tmpdir(), "stepwell-bench-clone-"));
  const commit = execFileSync("git", ["rev-parse", ref], { cwd: ROOT, encoding: "utf8" }).trim();
  execFileSync("git", ["clone", "-q", ROOT, folder]);
  execFileSync("git", ["checkout", "-q", commit], { cwd: folder });
  return folder;
}

if (process.argv[2] === "others") {
  process.once("disconnect", () => process.exit()); // The program that started it has ended.
  process.send?.(await serveOthers());
} else {
  await main();
}
