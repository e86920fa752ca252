import { createServer } from "node:http";
import { afterAll, beforeAll, expect, it, onTestFinished } from "vitest";
import { KIB } from "@/server/contract/sizes";
import { closeServer, listen } from "@/testing/servers/listen";
import { builtService, startOverRest, untilReady } from "@/testing/services/built-service";
import { insertTool } from "@/testing/tools";
import { createTenant, createWorld, type World } from "@/testing/world";

/** Small, so that few and cheap runs would fill it. */
const HEAP_MIB = 192;
const RUNS = 6;
const STEPS = 3;

let world: World;
const service = builtService(() => world);
beforeAll(async () => {
  await service.build();
  world = await createWorld();
}, 240_000);
afterAll(() => world.close());

async function startSilentServer(): Promise<number> {
  const server = createServer(() => {});
  const port = await listen(server);
  onTestFinished(() => {
    server.closeAllConnections();
    return closeServer(server);
  });
  return port;
}

it("runs with heavy values do not end the process, and other organizations' runs start and end", {
  tags: "long",
  timeout: 360_000,
}, async () => {
  const heavy = await createTenant(world);
  const other = await createTenant(world, { plan: { startsPerMinute: null } });
  const port = await startSilentServer();
  const steps = Array.from({ length: STEPS }, (_, n) => ({
    id: `step${n}`,
    uses: "transform_json",
    with: { value: "{{ input.items }}", expression: "$" },
  }));
  const last = { id: "last", uses: "http_request", with: { url: `http://127.0.0.1:${port}/` } };
  const tool = await insertTool(world, heavy, { slug: "heavy", definition: { steps: [...steps, last] } });
  const running = await service.start({
    env: { EGRESS_ALLOW: `127.0.0.1:${port}` },
    flags: [`--max-old-space-size=${HEAP_MIB}`],
  });
  await untilReady(running);

  // Each value takes 20 times its text.
  const body = `{"items":[${"{},".repeat((300 * KIB) / 3)}0]}`;
  for (let n = 0; n < RUNS; n += 1)
    await startOverRest(running, `tools/run/${tool}`, { key: heavy.key, body });
  const own: string[] = [];
  await expect
    .poll(
      async () => {
        const started = startOverRest(running, `tools/run/${other.toolId}`, {
          key: other.key,
          body: '{"a":1,"b":2}',
        });
        own.push(await started);
        return world.db.step.count({ where: { organizationId: heavy.orgId, status: "Completed" } });
      },
      { timeout: 240_000, interval: 500 },
    )
    .toBe(RUNS * STEPS);
  const isEnded = { id: { in: own }, status: "Completed" } as const;
  await expect.poll(() => world.db.run.count({ where: isEnded }), { timeout: 60_000 }).toBe(own.length);
  expect(running.child.exitCode ?? running.child.signalCode).toBeNull();
});
