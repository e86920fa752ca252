import { execFileSync } from "node:child_process";
import { afterAll, beforeAll, expect, it } from "vitest";
import { freePort, isFree } from "@/scripts/support/ports.mjs";
import { builtService, startOverRest, untilReady } from "@/testing/services/built-service";
import { createTenant, createWorld, type World } from "@/testing/world";

/** Several processes behind one port (STEPWELL_PROCESSES), each with a port for its metrics. */

const STARTS = 6;

let world: World;
const service = builtService(() => world);

beforeAll(async () => {
  await service.build();
  world = await createWorld();
}, 240_000);
afterAll(() => world.close());

async function freePorts(): Promise<number> {
  for (;;) {
    const port = await freePort();
    if (await isFree(port + 1)) return port;
  }
}

async function readSample(port: number, name: string): Promise<number | undefined> {
  const response = await fetch(`http://127.0.0.1:${port}/metrics`).catch(() => null);
  const [, value] = (await response?.text())?.match(new RegExp(`^${name} (\\S+)$`, "m")) ?? [];
  return value === undefined ? undefined : Number(value);
}

it("serves the metrics of each process on its own port, also after it was replaced", async () => {
  const first = await freePorts();
  const ports = [first, first + 1];
  const process = await service.start({
    env: { STEPWELL_PROCESSES: "2", STEPWELL_METRICS_PORT: String(first) },
    quiet: true,
  });
  await untilReady(process);
  const startedAt = (port: number) => readSample(port, "process_start_time_seconds");
  const starts = async () => {
    const name = 'stepwell_runs_started_total\\{kind="tool",source="api"\\}';
    const counts = await Promise.all(ports.map((port) => readSample(port, name)));
    return counts.reduce<number>((sum, count = 0) => sum + count, 0);
  };
  for (const port of ports) await expect.poll(() => startedAt(port)).toBeDefined();
  // Behind the common port, each scrape would be of another process.
  expect((await fetch(`${process.origin}/api/metrics`)).status).toBe(404);

  const tenant = await createTenant(world);
  for (let n = 0; n < STARTS; n += 1)
    await startOverRest(process, `tools/run/${tenant.toolId}`, { key: tenant.key, body: '{"a":1,"b":2}' });
  await expect.poll(starts).toBe(STARTS);

  const before = await Promise.all(ports.map(startedAt));
  const children = execFileSync("ps", ["-o", "pid=", "--ppid", String(process.child.pid)], {
    encoding: "utf8",
  });
  const pids = children.trim().split(/\s+/).map(Number);
  expect(pids.length).toBe(2);
  globalThis.process.kill(pids[0] ?? 0, "SIGKILL");
  const replaced = async () => {
    const after = await Promise.all(ports.map(startedAt));
    return after.filter((time, n) => time !== undefined && time !== before[n]).length;
  };
  await expect.poll(replaced, { timeout: 60_000 }).toBe(1);

  process.child.kill("SIGTERM");
  await process.exited;
  expect(process.child.exitCode).toBe(0);
  expect(await Promise.all(ports.map((port) => isFree(port)))).toEqual([true, true]);
});

it("is announced once it listens, and ends if its port is taken", { timeout: 120_000 }, async () => {
  const env = { STEPWELL_PROCESSES: "2", HOST: "127.0.0.2" };
  const first = await service.start({ env });
  await expect.poll(first.printed, { timeout: 60_000 }).toContain("Stepwell is ready");
  // The first one answers there.
  const { port } = new URL(first.origin);
  const second = await service.start({ env: { ...env, PORT: port }, quiet: true });
  await second.exited;
  expect(second.child.exitCode).toBe(1);
  expect(second.printed()).toContain("before one listened on 127.0.0.2");
  expect(second.printed()).not.toContain("is ready");
});
