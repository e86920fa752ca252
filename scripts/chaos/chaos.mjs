import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import pg from "pg";
import { joinPostgres } from "../postgres.mjs";
import { ROOT } from "../project.mjs";

/**
 * Proves the durability promises by killing things: starts agent and tool runs whose side effects are counted by a local
 * server, kills -9 the service's process groups and the database at random moments, starts them again, and at the end
 * prints what was lost, repeated, overcharged or stuck. Exit code 0 only when nothing was.
 *
 *   node scripts/chaos/chaos.mjs [--runs 40] [--crowd 0] [--kills 8] [--processes 1] [--seconds 240] [--port 4600]
 *
 * With a crowd, so many runs of a second organization begin at once: they take all places and must give some back.
 * With INNGEST_* set, one process and a server that reaches it on loopback, the runs are that server's.
 */

const { values } = parseArgs({
  options: {
    runs: { type: "string", default: "40" },
    crowd: { type: "string", default: "0" },
    kills: { type: "string", default: "8" },
    processes: { type: "string", default: "1" },
    seconds: { type: "string", default: "240" },
    port: { type: "string", default: "4600" },
  },
});
const RUNS = Number(values.runs);
const CROWD = Number(values.crowd);
const KILLS = Number(values.kills);
const PROCESSES = Number(values.processes);
const END = Date.now() + Number(values.seconds) * 1000;
const BASE_PORT = Number(values.port);
const STEPS = 4;

const dataDir = mkdtempSync(join(tmpdir(), "stepwell-chaos-"));
/** @type {Map<string, number[]>} times at which the effect of a step (run and step) arrived */
const effects = new Map();
const say = console.log;
const pause = (/** @type {number} */ ms) => new Promise((resolve) => setTimeout(resolve, ms));
const random = (/** @type {number} */ below) => Math.floor(Math.random() * below);

/** @param {import("node:http").RequestListener} listener @returns {Promise<{ port: number, close: () => void }>} */
function listen(listener) {
  return new Promise((resolve) => {
    const server = createServer(listener).listen(0, "127.0.0.1", () => {
      const address = server.address();
      const port = typeof address === "object" && address !== null ? address.port : 0;
      resolve({ port, close: () => server.close() });
    });
  });
}

/** @param {import("node:http").IncomingMessage} request @returns {Promise<string>} */
async function readText(request) {
  const chunks = [];
  for await (const chunk of request) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}

const effectServer = await listen(async (request, response) => {
  await readText(request);
  const key = String(request.headers["idempotency-key"]);
  effects.set(key, [...(effects.get(key) ?? []), Date.now()]);
  await pause(20 + random(150));
  response.setHeader("content-type", "application/json");
  response.end('{"ok":true}');
});
const effectUrl = `http://127.0.0.1:${effectServer.port}/effect`;

/** Calls two effects at a time until STEPS iterations are done, then answers. */
const modelServer = await listen(async (request, response) => {
  const { messages } = JSON.parse((await readText(request)) || "{}");
  await pause(30 + random(200));
  const iteration = messages.filter(
    (/** @type {{ role: string }} */ { role }) => role === "assistant",
  ).length;
  const call = (/** @type {number} */ index) => ({
    id: `c${iteration}-${index}`,
    type: "function",
    function: {
      name: "http_request",
      arguments: JSON.stringify({ url: effectUrl, method: "POST", body: { iteration, index } }),
    },
  });
  const message =
    iteration < STEPS
      ? { role: "assistant", content: "Next.", tool_calls: [call(1), call(2)] }
      : { role: "assistant", content: "All done." };
  response.setHeader("content-type", "application/json");
  response.end(
    JSON.stringify({
      id: "x",
      object: "chat.completion",
      created: 0,
      model: "chaos",
      choices: [{ index: 0, message, finish_reason: iteration < STEPS ? "tool_calls" : "stop" }],
      usage: { prompt_tokens: 50, completion_tokens: 10, total_tokens: 60 },
    }),
  );
});

const environment = {
  ...process.env,
  STEPWELL_DATA_DIR: dataDir,
  OPENAI_BASE_URL: `http://127.0.0.1:${modelServer.port}/v1`,
  OPENAI_API_KEY: "chaos",
  EGRESS_ALLOW: `127.0.0.1:${effectServer.port}`,
  LOG_LEVEL: "error",
};

/** @typedef {{ port: number, pid: number, ready: Promise<void>, over: Promise<unknown> }} Service */
/** @param {number} port @returns {Service} */
function startService(port) {
  const child = spawn(process.execPath, ["scripts/start.mjs"], {
    cwd: ROOT,
    env: { ...environment, PORT: String(port), APP_URL: `http://127.0.0.1:${port}` },
    detached: true,
    stdio: ["ignore", "ignore", "inherit"],
  });
  const over = once(child, "exit");
  const ready = (async () => {
    for (;;) {
      try {
        if ((await fetch(`http://127.0.0.1:${port}/api/ready`)).ok) return;
      } catch {
        // not listening yet
      }
      if (child.exitCode !== null) throw new Error(`the service on ${port} ended by itself`);
      if (Date.now() > END) throw new Error(`the service on ${port} did not become ready`);
      await pause(200);
    }
  })();
  ready.catch(() => {}); // Told to whoever waits for it; the last ones may go unawaited.
  return { port, pid: child.pid ?? 0, ready, over };
}

/** @param {string[]} args @returns {Promise<string>} */
function stepwell(args) {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, ["scripts/stepwell.mjs", ...args], {
      cwd: ROOT,
      env: { ...environment, APP_URL: `http://127.0.0.1:${BASE_PORT}` },
      stdio: ["ignore", "pipe", "inherit"],
    });
    let out = "";
    child.stdout.on("data", (chunk) => {
      out += chunk;
    });
    child.on("close", (code) =>
      code === 0 ? resolve(out) : reject(new Error(`stepwell ${args[0]} failed`)),
    );
  });
}

/** @param {string} slug @param {number} concurrency */
const organizationOf = (slug, concurrency) => ({
  slug,
  name: slug,
  plan: { apiAccess: true, startsPerMinute: 100_000, readsPerMinute: 100_000, concurrency },
  credits: 10_000,
  apiKeys: [{ name: "chaos" }],
  tools: [
    {
      slug: "effects",
      name: "Effects",
      description: "Three effects, one after another.",
      steps: [1, 2, 3].map((n) => ({
        id: `effect${n}`,
        uses: "http_request",
        with: { url: effectUrl, method: "POST", body: { n } },
      })),
      output: { done: true },
    },
  ],
  agents: [
    {
      slug: "chaos",
      name: "Chaos",
      model: "chaos",
      systemPrompt: "Go.",
      maxSteps: 8,
      functions: ["http_request"],
    },
  ],
});
const definition = { organizations: [organizationOf("chaos", 20), organizationOf("crowd", 1_000)] };

/** @type {Service[]} */
let services = [];
let killed = 0;
let databaseKills = 0;
let inFlightAtKills = 0;
/** @type {Awaited<ReturnType<typeof joinPostgres>> | undefined} */
let joined;
let exitCode = 1;

try {
  say(`Starting ${PROCESSES} service process(es) …`);
  services = [startService(BASE_PORT)];
  await services[0]?.ready;
  for (let n = 1; n < PROCESSES; n += 1) services.push(startService(BASE_PORT + n));
  await Promise.all(services.map(({ ready }) => ready));

  const file = join(dataDir, "chaos.yaml");
  writeFileSync(file, JSON.stringify(definition));
  const organizations = JSON.parse(await stepwell(["apply", file, "--json"])).organizations;
  await postgres();

  /**
   * A start that is repeated with its idempotency key until some process answers it.
   * @param {number} n @param {any} organization
   */
  const start = async (n, organization) => {
    const key = organization.apiKeys[0].key;
    const isAgent = n % 2 === 0;
    const path = isAgent
      ? `agents/run/${organization.agents[0].id}`
      : `tools/run/${organization.tools[0].id}`;
    for (;;) {
      const service = services[random(services.length)];
      try {
        const response = await fetch(`http://127.0.0.1:${service?.port}/v1/${path}`, {
          method: "POST",
          headers: { "X-API-Key": key, "Content-Type": "application/json", "Idempotency-Key": `chaos-${n}` },
          body: isAgent ? '{"userMessage":"go"}' : "{}",
        });
        if (response.ok) return (await response.json()).id;
      } catch {
        // killed meanwhile
      }
      if (Date.now() > END) throw new Error("starts were not answered in time");
      await pause(100);
    }
  };
  const [chaos, crowd] = organizations;
  const starting = Promise.all([
    ...Array.from({ length: RUNS }, async (_, n) => {
      await pause(n * 100);
      return start(n, chaos);
    }),
    ...Array.from({ length: CROWD }, (_, n) => start(n, crowd)),
  ]);

  for (let n = 0; n < KILLS; n += 1) {
    await pause(500 + random(2_500));
    const index = random(services.length);
    const victim = services[index];
    if (victim === undefined) continue;
    await victim.ready;
    await pause(random(1_500));
    const withDatabase = n % 3 === 2;
    kill(-victim.pid);
    // Until the kernel has cleared it away, its port is taken.
    await victim.over;
    killed += 1;
    if (withDatabase) {
      const pid = Number(
        readFileSync(join((await postgres()).cluster, "postmaster.pid"), "utf8").split("\n")[0],
      );
      kill(pid);
      databaseKills += 1;
      await pause(300);
    }
    inFlightAtKills += await count(
      (await postgres()).url,
      "SELECT count(*) FROM steps s JOIN runs r ON r.id = s.run_id WHERE s.status = 'Running' AND r.status = 'Running'",
    );
    services[index] = startService(victim.port);
    if (PROCESSES === 1) await services[index]?.ready;
  }
  const runIds = await starting;
  say(
    `Started ${runIds.length} runs, killed ${killed} process groups and the database ${databaseKills} times; waiting …`,
  );

  for (;;) {
    const open = await count(
      (await postgres()).url,
      "SELECT count(*) FROM runs WHERE status IN ('Pending', 'Running')",
    );
    if (open === 0 || Date.now() > END) break;
    await pause(500);
  }
  exitCode = await report((await postgres()).url, runIds);
} catch (error) {
  console.error(error);
} finally {
  for (const { pid } of services) kill(-pid, "SIGTERM");
  await pause(4_000);
  for (const { pid } of services) kill(-pid);
  await postgres().catch(() => {});
  await joined?.leave();
  effectServer.close();
  modelServer.close();
  rmSync(dataDir, { recursive: true, force: true, maxRetries: 5 });
  process.exit(exitCode);
}

/** The embedded PostgreSQL of the data folder, started again when it was killed. */
async function postgres() {
  // A process holds the database once, however often it joins.
  joined = await joinPostgres(dataDir);
  return joined;
}

/** @param {number} pid @param {NodeJS.Signals} signal */
function kill(pid, signal = "SIGKILL") {
  try {
    process.kill(pid, signal);
  } catch {
    // gone already
  }
}

/** @param {string} url @param {string} sql @param {unknown[]} parameters @returns {Promise<any[]>} */
async function query(url, sql, parameters = []) {
  for (let attempt = 0; ; attempt += 1) {
    const client = new pg.Client({ connectionString: url });
    client.on("error", () => {});
    try {
      await client.connect();
      return (await client.query(sql, parameters)).rows;
    } catch (error) {
      if (attempt === 50) throw error;
      await pause(200);
    } finally {
      await client.end().catch(() => {});
    }
  }
}

/** @param {string} url @param {string} sql */
async function count(url, sql) {
  return Number((await query(url, sql))[0].count);
}

/** @param {string} url @param {string[]} runIds */
async function report(url, runIds) {
  const runs = await query(
    url,
    "SELECT id, status, error_message, credits_used, admitted_at > started_at AS gave_back FROM runs WHERE id = ANY($1::uuid[])",
    [runIds],
  );
  const steps = await query(
    url,
    "SELECT run_id, key, status, finished_at FROM steps WHERE run_id = ANY($1::uuid[]) ORDER BY run_id, step_number",
    [runIds],
  );
  let finishedRepeated = 0;
  let inFlightRepeated = 0;
  let missing = 0;
  for (const step of steps) {
    const times = effects.get(`${step.run_id}:${step.key}`) ?? [];
    if (times.length === 0) missing += 1;
    inFlightRepeated += Math.max(0, times.length - 1);
    // The clocks are one machine's; the row is written after its effect.
    finishedRepeated += times.filter((time) => time > step.finished_at.getTime()).length;
  }
  const ledgers = await query(
    url,
    `SELECT o.balance = (SELECT sum(amount) FROM credit_entries e WHERE e.organization_id = o.id) AS adds_up,
            coalesce((SELECT -sum(amount) FROM credit_entries e WHERE e.organization_id = o.id AND kind = 'charge'), 0)
              = (SELECT sum(credits_used) FROM runs r WHERE r.organization_id = o.id) AS charged,
            coalesce((SELECT sum(held) FROM runs r WHERE r.organization_id = o.id), 0) = 0 AS nothing_held
     FROM organizations o WHERE o.slug IN ('chaos', 'crowd')`,
  );
  const every = (/** @type {string} */ fact) => ledgers.every((ledger) => ledger[fact] !== false);
  // Only a run that gave its place back was admitted after it had begun.
  const gaveBack = runs.filter((run) => run.gave_back).length;
  const of = (/** @type {string} */ status) => runs.filter((run) => run.status === status).length;
  const stuck = of("Pending") + of("Running");
  const lost = RUNS + CROWD - runs.length;
  const stepsOf = (/** @type {number} */ count) =>
    Math.ceil(count / 2) * STEPS * 2 + Math.floor(count / 2) * 3;
  const expectedSteps = lost === 0 ? stepsOf(RUNS) + stepsOf(CROWD) : -1;
  const figures = {
    "runs started": runIds.length,
    completed: of("Completed"),
    failed: of("Failed"),
    lost,
    "steps finished": `${steps.length} of ${expectedSteps}`,
    "steps without their effect": missing,
    "finished steps repeated": finishedRepeated,
    "in-flight steps repeated": `${inFlightRepeated} (at most ${inFlightAtKills} in flight at the kills)`,
    "runs that gave their place back": gaveBack,
    "balance is the sum of the ledger": every("adds_up"),
    "charges equal creditsUsed": every("charged"),
    "nothing held": every("nothing_held"),
    stuck,
  };
  for (const [name, value] of Object.entries(figures)) say(`${name.padEnd(34)} ${value}`);
  for (const run of runs.filter(({ status }) => status === "Failed"))
    say(`  ${run.id}: ${run.error_message}`);
  const sound =
    lost + stuck + of("Failed") + missing + finishedRepeated === 0 &&
    steps.length === expectedSteps &&
    inFlightRepeated <= inFlightAtKills &&
    every("adds_up") &&
    every("charged") &&
    every("nothing_held");
  say(sound ? "Nothing lost, nothing twice, nothing stuck." : "A promise was broken.");
  return sound ? 0 : 1;
}
