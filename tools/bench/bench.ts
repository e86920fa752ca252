import { execFileSync, fork } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import { cpus, tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";
import { listen } from "../../scripts/support/ports.mjs";
import { ROOT } from "../../scripts/support/project.mjs";
import { cpuMs, memoryMb, postgresCpuMs } from "../process-figures";
import { generateLoad, type Load, summarize } from "./load";
import { type Caller, openService, type Service, type Start } from "./service";

/**
 * `npm run bench`: measures the built service and, for the speed of the machine, a bare node:http server.
 * `--against REF` also measures another commit or checkout, in alternation. `--after-idle SECONDS` adds a
 * burst after that time without a call. Prints medians of the rounds, and the rates of the slowest and fastest round.
 */
const { values: options } = parseArgs({
  options: {
    against: { type: "string" },
    rounds: { type: "string", default: "3" },
    seconds: { type: "string", default: "2" },
    /** The model waits for this many ms. */
    delay: { type: "string", default: "0" },
    "after-idle": { type: "string" },
  },
  allowPositionals: true,
});
const BURST = 400;
const SINGLE = 30;
const POLLS = 16;
const EATERS = 100;

/** In a process of their own, so that they are not measured with the load. */
async function serveOthers() {
  const model = createServer(async (incoming, outgoing) => {
    const request = await text(incoming);
    const delayMs = request.includes('"Wait."') ? 20_000 : Number(options.delay);
    if (delayMs > 0) await sleep(delayMs);
    const results = request.split('"role":"tool"').length - 1;
    outgoing.writeHead(200, { "Content-Type": "text/event-stream" }).end(results < 2 ? CALL : ANSWER);
  });
  model.keepAliveTimeout = 60_000;
  // As large as a run's status.
  const body = JSON.stringify({ filler: "x".repeat(350) });
  const headers = { "Content-Type": "application/json; charset=utf-8", "Content-Length": body.length };
  const bare = createServer((_incoming, outgoing) => outgoing.writeHead(200, headers).end(body));
  return { model: await listen(model), bare: await listen(bare) };
}

const CALCULATE = { name: "calculate", arguments: '{"expression":"6 * 7"}' };
const CALL = replyOf({ tool_calls: [{ index: 0, id: "call", type: "function", function: CALCULATE }] });
const ANSWER = replyOf({ content: "42" });

function replyOf(delta: object): string {
  const finish_reason = "tool_calls" in delta ? "tool_calls" : "stop";
  const choices = [{ index: 0, delta: { role: "assistant", ...delta }, finish_reason }];
  const usage = { prompt_tokens: 50, completion_tokens: 10, total_tokens: 60 };
  const chunk = { id: "c", object: "chat.completion.chunk", created: 1, model: "bench", choices, usage };
  return `data: ${JSON.stringify(chunk)}\n\ndata: [DONE]\n\n`;
}

async function call({ port, key }: Caller, { path, body }: { path: string; body?: string }) {
  const headers = { "X-API-Key": key, "Content-Type": "application/json" };
  const init = body === undefined ? { headers } : { method: "POST", headers, body };
  return (await fetch(`http://127.0.0.1:${port}${path}`, init)).json();
}

const statusPath = (start: Start, runId: string) => start.path.replace(/[^/]+$/, `${runId}/status`);

async function untilEnded(
  caller: Caller,
  start: Start,
  { ids, everyMs }: { ids: string[]; everyMs: number },
) {
  // Few at a time: polls of all runs would cost more than the runs.
  for (let left = ids; left.length > 0; ) {
    const asked = left.slice(0, POLLS);
    const runs = await Promise.all(asked.map((id) => call(caller, { path: statusPath(start, id) })));
    for (const run of runs) if (run.status === "Failed") throw new Error(run.errorMessage);
    const open = asked.filter((_, index) => runs[index].status !== "Completed");
    left = [...open, ...left.slice(POLLS)];
    if (open.length > 0) await sleep(everyMs);
  }
}

const poll = ({ port, key }: Caller, path: string) =>
  generateLoad({ port, key, connections: 16, paths: [path], seconds: Number(options.seconds) });

/** A run that executes is answered from memory, one in a `wait` step from the database. */
async function pollRunning(service: Service, start: Start): Promise<Load> {
  const path = statusPath(start, (await call(service, start)).id);
  while ((await call(service, { path })).status !== "Running");
  return poll(service, path);
}

async function starts(
  { port, key, agent: { body } }: Service,
  load: { connections: number; count: number; paths: string[] },
): Promise<Phase> {
  const result = await generateLoad({ port, key, body, ...load });
  return { ...result, open: result.bodies.slice(-16).map(idOf) };
}

function idOf(body: string): string {
  const { id, runId } = JSON.parse(body);
  return runId ?? id;
}

async function single(service: Service, start: Start): Promise<Phase> {
  const times: number[] = [];
  const began = performance.now();
  for (let n = 0; n < SINGLE; n += 1) {
    const at = performance.now();
    const { id } = await call(service, start);
    await untilEnded(service, start, { ids: [id], everyMs: 1 });
    times.push(performance.now() - at);
  }
  return { ...summarize(times), ms: performance.now() - began };
}

async function besideEaters(service: Service): Promise<Phase> {
  const { eaters } = service;
  const started = await Promise.all(Array.from({ length: EATERS }, () => call(eaters, eaters.tool)));
  const result = await single(service, service.script);
  await untilEnded(eaters, eaters.tool, { ids: started.map(({ id }) => id), everyMs: 200 });
  return result;
}

async function burst(service: Service, start: Start): Promise<Phase> {
  const { port, key } = service;
  const { path, body } = start;
  const began = performance.now();
  const sent = await generateLoad({ port, key, connections: BURST, count: BURST, paths: [path], body });
  await untilEnded(service, start, { ids: sent.bodies.map(idOf), everyMs: 20 });
  return { ...sent, ms: performance.now() - began };
}

type Phase = Pick<Load, "count" | "ms" | "p50" | "p95"> & { open?: string[] };

const POLL = "poll of a finished run, 16 connections";
const PHASES: Record<string, (service: Service, runId: string) => Promise<Phase>> = {
  [POLL]: (service, runId) => poll(service, statusPath(service.agent, runId)),
  "poll of an executing run": (service) =>
    pollRunning(service, { ...service.agent, body: '{"userMessage":"Wait."}' }),
  "poll of a waiting run": (service) => pollRunning(service, service.waiting),
  "start, 16 connections": (service) =>
    starts(service, { connections: 16, count: 1_500, paths: [service.agent.path] }),
  "start, 1 connection": (service) =>
    starts(service, { connections: 1, count: 300, paths: [service.agent.path] }),
  "webhook, 16 connections": (service) =>
    starts(service, { connections: 16, count: 1_000, paths: service.hooks }),
  "one agent run": (service) => single(service, service.agent),
  "one tool run": (service) => single(service, service.tool),
  "one script": (service) => single(service, service.script),
  [`one script beside ${EATERS} memory eaters`]: besideEaters,
  [`${BURST} agent runs at once`]: (service) => burst(service, service.agent),
  [`${BURST} tool runs at once`]: (service) => burst(service, service.tool),
};

const FIGURES = ["perSecond", "p50Ms", "p95Ms", "serviceCpuMs", "postgresCpuMs"];
const rounds = new Map<string, number[][]>();

type Target = { name: string; pid: number; postmaster?: number };

async function measure(what: string, { name, pid, postmaster }: Target, run: () => Promise<Phase>) {
  const readCpu = () => [cpuMs(pid), postmaster === undefined ? 0 : postgresCpuMs(postmaster)] as const;
  const [service, postgres] = readCpu();
  const { count, ms, p50, p95, open = [] } = await run();
  const [serviceAfter, postgresAfter] = readCpu();
  const cpu = [(serviceAfter - service) / count, (postgresAfter - postgres) / count];
  const row = `${what}: ${name}`;
  rounds.set(row, [...(rounds.get(row) ?? []), [(count / ms) * 1_000, p50, p95, ...cpu]]);
  return open;
}

function medians() {
  const rows = [...rounds].map(([row, figures]) => {
    const medians = FIGURES.map((name, index) => {
      const { p50 } = summarize(figures.map((round) => round[index] ?? 0));
      return [name, Number(p50.toFixed(p50 >= 100 ? 0 : 2))];
    });
    const rates = figures.map(([rate = 0]) => Math.round(rate));
    return [row, { ...Object.fromEntries(medians), range: `${Math.min(...rates)}–${Math.max(...rates)}` }];
  });
  return Object.fromEntries(rows);
}

async function main(): Promise<void> {
  const { against, delay } = options;
  console.log(`Node ${process.version}, ${cpus().length} × ${cpus()[0]?.model}, model delay ${delay} ms`);
  const isRef = against !== undefined && !existsSync(join(against, "package.json"));
  const clone = isRef ? cloneOf(against) : undefined;
  const others = fork(import.meta.filename, ["others", ...process.argv.slice(2)]);
  const [ports] = await once(others, "message");
  const services: { service: Service; runId: string }[] = [];
  try {
    const checkouts = { this: ROOT, ...(against && { [against]: clone ?? against }) };
    for (const [name, root] of Object.entries(checkouts)) {
      const service = await openService(name, root, ports.model);
      const { id: runId } = await call(service, service.agent);
      services.push({ service, runId });
      await untilEnded(service, service.agent, { ids: [runId], everyMs: 5 });
      console.log(`${name}: ready in ${Math.round(service.readyMs)} ms, ${memoryMb(service.pid)} MB`);
    }
    for (let n = 0; n < Number(options.rounds); n += 1) {
      const bare = { name: "bare node:http", pid: others.pid ?? 0 };
      await measure(POLL, bare, () => poll({ port: ports.bare, key: "none" }, "/"));
      for (const [what, run] of Object.entries(PHASES)) {
        // The first of two is measured with colder caches.
        for (const { service, runId } of n % 2 === 0 ? services : services.toReversed()) {
          const open = await measure(what, service, () => run(service, runId));
          // Starts go before the acts of runs, so their runs execute when the phase is over.
          await untilEnded(service, service.agent, { ids: open, everyMs: 100 });
        }
      }
    }
    const idle = options["after-idle"];
    if (idle !== undefined) {
      await sleep(Number(idle) * 1_000);
      for (const { service } of services)
        await measure(`${BURST} agent runs after ${idle} s of idleness`, service, () =>
          burst(service, service.agent),
        );
    }
    console.table(medians());
    for (const { service } of services)
      console.log(`${service.name}: ${memoryMb(service.pid)} MB after all rounds`);
  } finally {
    await Promise.all(services.map(({ service }) => service.stop()));
    others.kill();
    if (clone !== undefined) rmSync(clone, { recursive: true, force: true });
  }
}

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
