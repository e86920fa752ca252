import { execFileSync, fork } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { cpus, tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";
import { ROOT, SetupError } from "../../scripts/support/project.mjs";
import { cpuMs, memoryMb, postgresCpuMs } from "../process-figures";
import { joinDatabase, openDatabase } from "./database";
import { HELD_PHASES, holdRequests } from "./held";
import { summarize } from "./load";
import { serveOthers } from "./others";
import { HELP, openPeer, readPeers, servePeer } from "./peers/peers";
import { afterIdle, burst, PHASES, type Phase, POLL, poll, untilEnded } from "./phases";
import { openService } from "./service";
import { startRun, type Target } from "./target";

const USAGE = `npm run bench -- [options]: measures the built service beside a bare node:http server.

--against REF         measures another commit or checkout, too
--beside PEERS        measures restate, dbos or both, from --peers FOLDER; see below
--rounds 3            how often each phase is measured; the targets take turns at being first
--seconds 2           how long polls are measured
--delay 0             ms that the model waits
--data FOLDER         measures this checkout again, on the database that bench:runs filled with --data FOLDER
--only TEXT           only the phases whose name contains this text
--after-idle SECONDS  adds a burst after this time without a call
--held                adds seconds with 2,000 waiters and with 200 streams, which take a minute in each round
--statements          counts the SQL statements of each operation, which costs a little

It prints medians of the rounds, and the rates of the slowest and the fastest round. CPU is in ms for each operation. The
operation of the last phases is a second: 10 ms of CPU are 1 % of a core.

${HELP}`;

const { values: options } = parseArgs({
  options: {
    help: { type: "boolean", short: "h" },
    against: { type: "string" },
    beside: { type: "string" },
    peers: { type: "string" },
    rounds: { type: "string", default: "3" },
    seconds: { type: "string", default: "2" },
    delay: { type: "string", default: "0" },
    data: { type: "string" },
    only: { type: "string", default: "" },
    "after-idle": { type: "string" },
    held: { type: "boolean", default: false },
    statements: { type: "boolean", default: false },
  },
  allowPositionals: true,
});

const FIGURES = ["perSecond", "p50Ms", "p95Ms", "serviceCpuMs", "postgresCpuMs", "statements"];
const rounds = new Map<string, number[][]>();

type Measured = Pick<Target, "name" | "pids" | "postmaster" | "countStatements">;

async function readCosts({ pids, postmaster, countStatements }: Measured) {
  const service = pids.reduce((sum, pid) => sum + cpuMs(pid), 0);
  const postgres = postmaster === undefined ? Number.NaN : postgresCpuMs(postmaster);
  return [service, postgres, countStatements ? await countStatements() : Number.NaN];
}

/** Measures a phase, unless the target has none of that name. Returns the runs that it did not await. */
async function measure(what: string, target: Measured, run: () => Promise<Phase> | undefined) {
  const before = await readCosts(target);
  const result = await run();
  if (result === undefined) return [];
  const { count, ms, p50, p95, open = [] } = result;
  const after = await readCosts(target);
  const costs = after.map((cost, index) => (cost - (before[index] ?? 0)) / count);
  const row = `${what}: ${target.name}`;
  rounds.set(row, [...(rounds.get(row) ?? []), [(count / ms) * 1_000, p50, p95, ...costs]]);
  return open;
}

function medians() {
  const rows = [...rounds].map(([row, figures]) => {
    const medians = FIGURES.map((name, index) => {
      const { p50 } = summarize(figures.map((round) => round[index] ?? 0));
      return [name, Number.isNaN(p50) ? "" : Number(p50.toFixed(p50 >= 100 ? 0 : 2))];
    });
    const rates = figures.map(([rate = 0]) => Math.round(rate));
    return [row, { ...Object.fromEntries(medians), range: `${Math.min(...rates)}–${Math.max(...rates)}` }];
  });
  return Object.fromEntries(rows);
}

async function main(): Promise<void> {
  const { against, beside, peers: folder, delay, statements: counts } = options;
  const peers = beside === undefined ? [] : readPeers(beside, folder);
  console.log(`Node ${process.version}, ${cpus().length} × ${cpus()[0]?.model}, model delay ${delay} ms`);
  const isRef = against !== undefined && !existsSync(join(against, "package.json"));
  const clone = isRef ? cloneOf(against) : undefined;
  const others = fork(import.meta.filename, ["others", ...process.argv.slice(2)]);
  const [{ model: modelPort, bare }] = await once(others, "message");
  const targets: { target: Target; runId: string }[] = [];
  const add = async (target: Target) => {
    const runId = await startRun(target, target.agent);
    targets.push({ target, runId });
    await untilEnded(target, target.agent, { ids: [runId], everyMs: 5 });
    console.log(`${target.name}: ready in ${Math.round(target.readyMs)} ms, ${memoryOf(target)} MB`);
  };
  try {
    const checkouts = { this: ROOT, ...(against && { [against]: clone ?? against }) };
    for (const [name, root] of Object.entries(checkouts)) {
      const database = counts ? await openDatabase({ counts }) : undefined;
      await add(await openService({ name, root, modelPort, database }));
    }
    if (options.data !== undefined) {
      const database = await joinDatabase(resolve(options.data));
      await add(await openService({ name: "filled", root: ROOT, modelPort, database }));
    }
    for (const peer of peers) await add(await openPeer(peer, { folder: folder ?? "", modelPort, counts }));
    for (let n = 0; n < Number(options.rounds); n += 1) await measureRound(n, targets, { others, bare });
    const idle = options["after-idle"];
    if (idle !== undefined) {
      await sleep(Number(idle) * 1_000);
      for (const { target } of targets)
        await measure(afterIdle(idle), target, () => burst(target, target.agent));
    }
    console.table(medians());
    for (const { target } of targets) console.log(`${target.name}: ${memoryOf(target)} MB after all rounds`);
  } finally {
    await Promise.all(targets.map(({ target }) => target.stop()));
    others.kill();
    if (clone !== undefined) rmSync(clone, { recursive: true, force: true });
  }
}

async function measureRound(
  n: number,
  targets: { target: Target; runId: string }[],
  { others, bare }: { others: { pid?: number | undefined }; bare: number },
): Promise<void> {
  const seconds = Number(options.seconds);
  const phases = Object.entries(PHASES).filter(([what]) => what.includes(options.only));
  const server = { name: "bare node:http", pids: [others.pid ?? 0] };
  if (POLL.includes(options.only))
    await measure(POLL, server, () => poll({ port: bare, key: "none" }, "/", seconds));
  for (const [what, run] of phases) {
    // The first one is measured with colder caches.
    for (const { target, runId } of n % 2 === 0 ? targets : targets.toReversed()) {
      const open = await measure(what, target, () => run({ target, runId, seconds }));
      // Starts go before the calls of runs, so their runs execute when the phase is over.
      await untilEnded(target, target.agent, { ids: open, everyMs: 100 });
    }
  }
  for (const what of options.held ? HELD_PHASES : [])
    for (const { target } of targets) await holdRequests(what, target, (run) => measure(what, target, run));
}

const memoryOf = ({ pids }: Target) => pids.reduce((sum, pid) => sum + memoryMb(pid), 0);

function cloneOf(ref: string): string {
  const folder = mkdtempSync(join(tmpdir(), "stepwell-bench-clone-"));
  const commit = execFileSync("git", ["rev-parse", ref], { cwd: ROOT, encoding: "utf8" }).trim();
  execFileSync("git", ["clone", "-q", ROOT, folder]);
  execFileSync("git", ["checkout", "-q", commit], { cwd: folder });
  return folder;
}

const [role, peer = "", folder = "", modelPort = ""] = process.argv.slice(2);
if (role === "others" || role === "peer") {
  process.once("disconnect", () => process.exit()); // The program that started it has ended.
  process.send?.(
    role === "others"
      ? await serveOthers(Number(options.delay))
      : await servePeer(peer, folder, Number(modelPort)),
  );
} else if (options.help) {
  console.log(USAGE);
} else {
  await main().catch((error) => {
    if (!(error instanceof SetupError)) throw error;
    console.error(error.message);
    process.exitCode = 1;
  });
}
