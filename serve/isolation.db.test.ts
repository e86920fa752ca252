import { once } from "node:events";
import { createServer, type ServerResponse } from "node:http";
import { afterAll, beforeAll, expect, it, onTestFinished } from "vitest";
import { expectSoundLedger } from "@/testing/ledger";
import { closeServer, listen } from "@/testing/servers/listen";
import { type BuiltProcess, builtService, startOverRest, untilReady } from "@/testing/services/built-service";
import { insertTool } from "@/testing/tools";
import { createTenant, createWorld, type World } from "@/testing/world";

let world: World;
const service = builtService(() => world);
beforeAll(async () => {
  await service.build();
  world = await createWorld();
}, 240_000);
afterAll(() => world.close());

async function startHeldServer() {
  const held: ServerResponse[] = [];
  const server = createServer((_incoming, outgoing) => void held.push(outgoing));
  const port = await listen(server);
  onTestFinished(() => {
    server.closeAllConnections();
    return closeServer(server);
  });
  return {
    address: `127.0.0.1:${port}`,
    requests: () => held.length,
    answer: () => held.at(-1)?.end("done"),
  };
}

const read = (id: string) => world.db.run.findUniqueOrThrow({ where: { id } });
const call = (address: string) => ({ id: "call", uses: "http_request", with: { url: `http://${address}/` } });

/** The service itself needs 50 MiB. */
const SMALL_HEAP = ["--max-old-space-size=80"];
/** 40 MiB of objects from a short text, and as much when they are stored. */
const POISON = { id: "poison", uses: "run_javascript", with: { code: "return Array(690_000).fill({})" } };

it("a run that crashes every process fails alone and is not charged; others go on", {
  tags: "long",
  timeout: 360_000,
}, async () => {
  const hostile = await createTenant(world);
  const other = await createTenant(world);
  const server = await startHeldServer();
  const env = { EGRESS_ALLOW: server.address };
  const start = async (): Promise<BuiltProcess> => {
    const started = await service.start({ env, flags: SMALL_HEAP, quiet: true });
    await untilReady(started);
    return started;
  };
  const definition = { steps: [call(server.address)] };
  const innocentTool = await insertTool(world, other, { slug: "innocent", definition });
  const poisonTool = await insertTool(world, hostile, { slug: "poison", definition: { steps: [POISON] } });

  const first = await start();
  const innocent = await startOverRest(first, `tools/run/${innocentTool}`, { key: other.key, body: "{}" });
  await expect.poll(server.requests, { timeout: 60_000 }).toBe(1);
  const poison = await startOverRest(first, `tools/run/${poisonTool}`, { key: hostile.key, body: "{}" });
  await first.exited;
  const second = await service.start({ env, flags: SMALL_HEAP, quiet: true });
  await second.exited;

  const third = await start();
  // Both are suspects now, and either may come first.
  const answering = setInterval(server.answer, 100);
  onTestFinished(() => clearInterval(answering));
  await expect.poll(async () => (await read(poison)).status, { timeout: 120_000 }).toBe("Failed");
  expect(await read(poison)).toMatchObject({ errorCode: "internal_error", crashes: 3 });
  expect((await read(poison)).creditsUsed.toString()).toBe("0");
  const own = await startOverRest(third, `tools/run/${other.toolId}`, {
    key: other.key,
    body: '{"a":1,"b":2}',
  });
  await expect.poll(async () => (await read(own)).status, { timeout: 60_000 }).toBe("Completed");
  await expect.poll(async () => (await read(innocent)).status, { timeout: 60_000 }).toBe("Completed");
  expect(third.child.exitCode ?? third.child.signalCode).toBeNull();
  await expectSoundLedger(world, hostile);
  await expectSoundLedger(world, other);
});

it("a suspect survives a kill and a stop of the service", { tags: "long", timeout: 240_000 }, async () => {
  const tenant = await createTenant(world);
  const server = await startHeldServer();
  const definition = { steps: [call(server.address)] };
  const tool = await insertTool(world, tenant, { slug: "slow", definition });
  const start = () => service.start({ env: { EGRESS_ALLOW: server.address } });
  const untilRequests = (count: number) => expect.poll(server.requests, { timeout: 60_000 }).toBe(count);

  const first = await start();
  await untilReady(first);
  const run = await startOverRest(first, `tools/run/${tool}`, { key: tenant.key, body: "{}" });
  await untilRequests(1);
  await service.kill(first.child);
  await world.db.run.update({ where: { id: run }, data: { crashes: 1 } });
  const second = await start();
  await untilRequests(2);
  expect(await read(run)).toMatchObject({ crashes: 2 });
  await service.kill(second.child);
  const third = await start();
  await untilRequests(3);
  third.child.kill("SIGTERM");
  await once(third.child, "exit");
  expect(third.child.exitCode).toBe(0);
  await start();
  await untilRequests(4);
  server.answer();
  await expect.poll(async () => (await read(run)).status, { timeout: 60_000 }).toBe("Completed");
});
