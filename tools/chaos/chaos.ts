import { execFileSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";
import { type AppliedOrganization, applyDefinitions } from "@/testing/services/service-process";
import { createThrowaway, removeThrowaway } from "../../scripts/postgres/throwaway.mjs";
import { startDatabase } from "./database";
import { report, timeOfDay } from "./report";
import { startServices } from "./services";
import { organizationOf, startModel, startRecorder } from "./work";

/**
 * Injects faults while runs with recorded side effects execute: kills processes and the database with SIGKILL,
 * stalls processes and cuts connections. Exits with 0 only if nothing was lost, repeated, charged wrongly or stuck.
 * npm run chaos -- [--runs 120] [--burst 0] [--faults 10] [--points 6] [--processes 1] [--seconds 300] [--port
 * 4600] `--burst` starts runs of a second organization at once: with few slots (STEPWELL_SLOTS=6) some must yield.
 */

const { values } = parseArgs({
  options: {
    runs: { type: "string", default: "120" },
    burst: { type: "string", default: "0" },
    faults: { type: "string", default: "10" },
    points: { type: "string", default: "6" },
    processes: { type: "string", default: "1" },
    seconds: { type: "string", default: "300" },
    port: { type: "string", default: "4600" },
  },
});
const RUNS = Number(values.runs);
const BURST = Number(values.burst);
const END = Date.now() + Number(values.seconds) * 1000;
const PORTS = Array.from({ length: Number(values.processes) }, (_, n) => Number(values.port) + n);
/** Spreads the runs over the faults. */
const START_EVERY_MS = 200;
/** Longer than a worker may be silent. */
const STALL_MS = 5_000;

// First, so that the services' time to become ready does not include it.
execFileSync(process.execPath, ["scripts/build.mjs"], { stdio: "inherit" });

const print = console.log;
const random = (limit: number) => Math.floor(Math.random() * limit);
const dataDir = await createThrowaway();
const recorder = await startRecorder();
const model = await startModel(recorder.port);
const database = await startDatabase(dataDir);
const env = {
  ...process.env,
  DATABASE_URL: database.url,
  STEPWELL_DATA_DIR: dataDir,
  STEPWELL_SECRET: randomBytes(32).toString("hex"),
  STEPWELL_ENV_FILE: "",
  OPENAI_BASE_URL: model.url,
  OPENAI_API_KEY: "chaos",
  EGRESS_ALLOW: `127.0.0.1:${recorder.port}`,
  LOG_LEVEL: process.env.LOG_LEVEL ?? "error",
};
const services = startServices({ ports: PORTS, env, pointKills: Number(values.points) });
const faults: Record<string, () => Promise<unknown>> = {
  "a process killed": services.kill,
  "connections cut": async () => {
    for (let i = 0; i < 5; i += 1) {
      database.cutConnections();
      await sleep(200 + random(300));
    }
  },
  "the database killed": database.kill,
  "a process stalled": () => services.stall(STALL_MS),
  "backends ended": database.endBackends,
};

let exitCode = 1;
try {
  print(`Starting ${PORTS.length} process(es) of the service …`);
  await services.ready();
  const organizations = [
    organizationOf("chaos", 20, recorder.port),
    organizationOf("burst", 1_000, recorder.port),
  ];
  const [chaos, burst] = await applyDefinitions(JSON.stringify({ organizations }), {
    env: { ...env, APP_URL: `http://127.0.0.1:${PORTS[0]}` },
  });
  const starting = Promise.all([
    ...Array.from({ length: RUNS }, async (_, n) => {
      await sleep(n * START_EVERY_MS);
      return start(n, chaos);
    }),
    ...Array.from({ length: BURST }, (_, n) => start(n, burst)),
  ]);
  const happened = await breakThings(Number(values.faults));
  const runIds = await starting;
  print(`Broken: ${happened.join(", ")}.`);
  print(`Processes that killed themselves: ${services.diedAt.join(", ") || "none"}.`);
  const openRuns = "SELECT id FROM runs WHERE status IN ('Pending', 'Running') LIMIT 1";
  const unindexed = "SELECT run_id FROM run_index_queue LIMIT 1";
  const unsent = "SELECT id FROM callback_events WHERE expanded_at IS NULL LIMIT 1";
  const undelivered = "SELECT id FROM callback_deliveries WHERE delivered_at IS NULL LIMIT 1";
  for (const open of [openRuns, unindexed, unsent, undelivered]) {
    while ((await database.query(open)).length > 0 && Date.now() < END) await sleep(500);
  }
  const isSound = await report(database, { runIds, counts: [RUNS, BURST], ...recorder });
  exitCode = isSound ? 0 : 1;
} catch (error) {
  console.error(error);
} finally {
  if (!(await services.stop())) print("A process did not end within 15 s of SIGTERM.");
  await database.stop();
  await removeThrowaway(dataDir);
  process.exit(exitCode);
}

async function start(n: number, organization: AppliedOrganization | undefined): Promise<string> {
  const isAgent = n % 2 === 0;
  const kind = isAgent ? "agents" : "tools";
  const path = `/v1/${kind}/run/${organization?.[kind][0]?.id}`;
  const headers = {
    "X-API-Key": organization?.apiKeys[0]?.key ?? "",
    "Content-Type": "application/json",
    "Idempotency-Key": `chaos-${n}`,
  };
  for (let last = "nothing"; ; ) {
    try {
      const response = await fetch(`http://127.0.0.1:${services.port()}${path}`, {
        method: "POST",
        headers,
        body: isAgent ? '{"userMessage":"go"}' : "{}",
        signal: AbortSignal.timeout(10_000),
      });
      if (response.ok) return (await response.json()).id;
      last = `${response.status} ${await response.text()}`;
    } catch (error) {
      last = String(error);
    }
    if (Date.now() > END) throw new Error(`a start was not accepted in time: ${last}`);
    await sleep(100 + random(200));
  }
}

async function breakThings(count: number): Promise<string[]> {
  const happened: string[] = [];
  while (happened.length < count) {
    for (const [name, inject] of Object.entries(faults).slice(0, count - happened.length)) {
      await services.ready(1);
      await sleep(500 + random(1_500));
      happened.push(`${name} at ${timeOfDay()}`);
      await inject();
    }
  }
  return happened;
}
