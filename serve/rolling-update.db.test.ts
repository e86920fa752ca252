import { Agent, createServer, request } from "node:http";
import { afterAll, beforeAll, expect, it } from "vitest";
import { sleep } from "@/server/base/sleep";
import { expectSoundLedger } from "@/testing/ledger";
import { closeServer, listen } from "@/testing/servers/listen";
import { type BuiltProcess, builtService, startOverRest, untilReady } from "@/testing/services/built-service";
import { insertTool } from "@/testing/tools";
import { createTenant, createWorld, type World } from "@/testing/world";

/** Processes are replaced behind a load balancer that checks /api/ready and repeats nothing. */

const CHECK_MS = 200;
const DRAIN_SECONDS = "5";
const CLIENTS = 4;
/** Between two requests of a client. */
const PACE_MS = 20;

let world: World;
const service = builtService(() => world);

beforeAll(async () => {
  await service.build();
  world = await createWorld();
}, 240_000);
afterAll(() => world.close());

type Backend = { origin: string; isReady: boolean };

/** As the guide describes it: checks each process, keeps connections alive, never sends a request twice. */
async function startProxy() {
  const backends: Backend[] = [];
  const agent = new Agent({ keepAlive: true, timeout: 60_000 });
  let turn = 0;
  const server = createServer((incoming, outgoing) => {
    const ready = backends.filter(({ isReady }) => isReady);
    turn += 1;
    const backend = ready[turn % ready.length];
    const fail = (error: Error) => outgoing.headersSent || outgoing.writeHead(502).end(error.message);
    if (backend === undefined) return fail(new Error("no process is ready"));
    const { method = "GET", url = "/", headers } = incoming;
    const forwarded = request(new URL(url, backend.origin), { agent, method, headers }, (response) => {
      const { connection: _hop, ...rest } = response.headers;
      outgoing.writeHead(response.statusCode ?? 502, rest);
      response.pipe(outgoing);
    });
    forwarded.on("error", fail);
    incoming.pipe(forwarded);
    return undefined;
  });
  const ending = new AbortController();
  const check = async () => {
    while (!ending.signal.aborted) {
      for (const backend of backends)
        backend.isReady = (await fetch(`${backend.origin}/api/ready`).catch(() => null))?.ok ?? false;
      await sleep(CHECK_MS, ending.signal);
    }
  };
  const checking = check();
  return {
    backends,
    origin: `http://127.0.0.1:${await listen(server)}`,
    async stop() {
      ending.abort();
      await checking;
      await closeServer(server);
      agent.destroy();
    },
  };
}

it("rejects no request and loses no run while each process is replaced", {
  tags: "long",
  timeout: 300_000,
}, async () => {
  const plan = { startsPerMinute: null, readsPerMinute: null, concurrency: 500 };
  const tenant = await createTenant(world, { credits: "100000", plan });
  const steps = [
    { id: "before", uses: "calculate", with: { expression: "1 + 1" } },
    { id: "pause", uses: "wait", with: { seconds: 3 } },
    { id: "after", uses: "calculate", with: { expression: "2 + 2" } },
  ];
  const waits = await insertTool(world, tenant, { slug: "waits", definition: { steps } });

  const proxy = await startProxy();
  const start = async (): Promise<BuiltProcess & { backend: Backend }> => {
    const started = await service.start({ env: { STEPWELL_DRAIN_SECONDS: DRAIN_SECONDS } });
    await untilReady(started);
    const backend = { origin: started.origin, isReady: false };
    proxy.backends.push(backend);
    await expect.poll(() => backend.isReady).toBe(true);
    return { ...started, backend };
  };
  const old = [await start(), await start()];

  const loading = new AbortController();
  const failed: string[] = [];
  const accepted: string[] = [];
  let sent = 0;
  const call = async (work: () => Promise<unknown>) => {
    sent += 1;
    await work().catch((error: unknown) => failed.push(String(error)));
    await sleep(PACE_MS);
  };
  const clients = Array.from({ length: CLIENTS }, async (_, client) => {
    const [kind, id, body] =
      client % 2 === 0
        ? (["agents", tenant.agentId, '{"userMessage":"Hi"}'] as const)
        : (["tools", waits, "{}"] as const);
    while (!loading.signal.aborted) {
      let run = "";
      await call(async () => {
        run = await startOverRest(proxy, `${kind}/run/${id}`, { key: tenant.key, body });
        accepted.push(run);
      });
      for (let poll = 0; poll < 5 && run !== ""; poll += 1)
        await call(async () => {
          const headers = { "X-API-Key": tenant.key };
          const response = await fetch(`${proxy.origin}/v1/${kind}/run/${run}/status`, {
            headers,
          });
          expect(response.status, await response.text()).toBe(200);
        });
    }
  });
  const exits: (number | null)[] = [];
  for (const { child, exited, backend } of old) {
    await start();
    child.kill("SIGTERM");
    await exited;
    exits.push(child.exitCode);
    proxy.backends.splice(proxy.backends.indexOf(backend), 1);
  }
  loading.abort();
  await Promise.all(clients);
  await proxy.stop();

  const where = { organizationId: tenant.orgId };
  const open = () => world.db.run.count({ where: { ...where, finishedAt: null } });
  await expect.poll(open, { timeout: 60_000 }).toBe(0);
  const runs = await world.db.run.findMany({ where, select: { id: true, status: true } });
  const completed = new Set(runs.filter(({ status }) => status === "Completed").map(({ id }) => id));
  const lost = accepted.filter((id) => !completed.has(id));
  console.info(`${sent} requests, ${failed.length} failed; ${accepted.length} runs, ${lost.length} lost`);
  expect({ failed, lost, exits }).toEqual({ failed: [], lost: [], exits: [0, 0] });
  expect(runs.length).toBe(accepted.length);
  expect(accepted.length).toBeGreaterThan(20);
  await expectSoundLedger(world, tenant);
});

it("a process that stops is not ready, accepts requests, ends their connections, and ends at once if told again", async () => {
  const process = await service.start({ env: { STEPWELL_DRAIN_SECONDS: "300" } });
  await untilReady(process);
  process.child.kill("SIGTERM");
  const ready = async () => (await fetch(`${process.origin}/api/ready`).catch(() => null))?.status;
  await expect.poll(ready).toBe(503);
  const tenant = await createTenant(world);
  const response = await fetch(`${process.origin}/v1/tools/run/${tenant.toolId}`, {
    method: "POST",
    headers: { "X-API-Key": tenant.key, "Content-Type": "application/json" },
    body: '{"a":1,"b":2}',
  });
  expect([response.status, response.headers.get("connection")]).toEqual([200, "close"]);

  const signalAgain = () => {
    process.child.kill("SIGTERM");
    return process.child.exitCode;
  };
  await expect.poll(signalAgain, { interval: 500 }).toBe(1);
});
