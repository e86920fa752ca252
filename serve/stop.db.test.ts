import { createServer, type ServerResponse } from "node:http";
import { afterAll, beforeAll, expect, it, onTestFinished } from "vitest";
import { openDatabaseProxy } from "@/testing/servers/database-proxy";
import { closeServer, listen } from "@/testing/servers/listen";
import { builtService, startOverRest, untilReady } from "@/testing/services/built-service";
import { insertTool } from "@/testing/tools";
import { createTenant, createWorld, type World } from "@/testing/world";

let world: World;
const service = builtService(() => world);
beforeAll(async () => {
  await service.build();
  world = await createWorld();
}, 240_000);
afterAll(() => world.close());

it("a process whose step cannot be stored ends all the same", { tags: "long", timeout: 90_000 }, async () => {
  const held: ServerResponse[] = [];
  const server = createServer((_incoming, outgoing) => void held.push(outgoing));
  const address = `127.0.0.1:${await listen(server)}`;
  const proxy = await openDatabaseProxy(world.env.databaseUrl);
  onTestFinished(async () => {
    server.closeAllConnections();
    await closeServer(server);
    await proxy.close();
  });
  const tenant = await createTenant(world);
  const definition = { steps: [{ id: "call", uses: "http_request", with: { url: `http://${address}/` } }] };
  const tool = await insertTool(world, tenant, { slug: "slow", definition });
  const env = { DATABASE_URL: proxy.url, EGRESS_ALLOW: address, STEPWELL_DRAIN_SECONDS: "0" };
  const process = await service.start({ env, quiet: true });
  await untilReady(process);
  await startOverRest(process, `tools/run/${tool}`, { key: tenant.key, body: "{}" });
  await expect.poll(() => held.length).toBe(1);

  proxy.reject(true);
  held[0]?.end("done");
  process.child.kill("SIGTERM");
  await process.exited;
  expect(process.child.exitCode).toBe(1);
  expect(process.printed()).toContain("did not stop in time");
});
