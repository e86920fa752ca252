import pg from "pg";
import { afterAll, beforeAll, beforeEach, expect, it, type MockInstance, vi } from "vitest";
import { z } from "zod";
import { handleRest } from "@/server/api/rest";
import { startEngine } from "@/testing/execute";
import { createTenant, createWorld, scriptedModels, type Tenant, type World } from "@/testing/world";

/**
 * Round trips to the database decide the service's speed. Each statement here is its own transaction. Change these
 * numbers only on purpose.
 */

let world: World;
let tenant: Tenant;
let query: MockInstance;
let release: (() => void) | undefined;

beforeAll(async () => {
  world = await createWorld({
    models: scriptedModels(async ({ messages }) => {
      if (messages[1]?.content === "hold") {
        await new Promise<void>((resolve) => {
          release = resolve;
        });
      }
      const rounds = messages.filter(({ role }) => role === "tool").length;
      if (rounds === 2) return {};
      return { toolCalls: [{ id: `${rounds}`, name: "calculate", arguments: '{"expression":"1+1"}' }] };
    }),
  });
  tenant = await createTenant(world, { plan: { readsPerMinute: 6_000, concurrency: 40 } });
  startEngine(world);
  query = vi.spyOn(pg.Client.prototype, "query");
  // The first operations fill the caches, unless a notification about the set-up arrives in between.
  await vi.waitFor(async () => {
    query.mockClear();
    await ended(await start("agents", '{"userMessage":"Hi"}'));
    await ended(await start("tools", '{"a":1,"b":2}'));
    expect(statements().filter((text) => text.startsWith("find-"))).toEqual([]);
  }, 20_000);
});
beforeEach(() => {
  query.mockClear();
});
afterAll(async () => {
  query.mockRestore();
  await world.close();
});

function statements(): string[] {
  const aside =
    /^(notify|heartbeat|find-cancelled-runs|wake-runs|find-claimed-runs|claim-waiting-runs|find-waiting|record-api-key-use)$|stepwell_ping|last_used_at|\/\* test/;
  return query.mock.calls
    .map(([statement]: unknown[]) => {
      const parsed = z
        .union([z.string(), z.object({ name: z.string() }), z.object({ text: z.string() })])
        .parse(statement);
      const text = typeof parsed === "string" ? parsed : "name" in parsed ? parsed.name : parsed.text;
      return text.trim().split("\n")[0] ?? "";
    })
    .filter((text) => !aside.test(text));
}

async function call(path: string, body?: string) {
  const headers = { "X-API-Key": tenant.key, "Content-Type": "application/json" };
  const request = new Request(
    `http://stepwell.test/v1/${path}`,
    body === undefined ? { headers } : { method: "POST", headers, body },
  );
  const response = await handleRest(world, request);
  const text = await response.text();
  expect(`${response.status} ${text}`).toMatch(/^200 /);
  return z.looseObject({ id: z.string().optional(), status: z.unknown() }).parse(JSON.parse(text));
}

async function start(kind: "agents" | "tools", body: string): Promise<string> {
  const target = kind === "agents" ? tenant.agentId : tenant.toolId;
  return z.string().parse((await call(`${kind}/run/${target}`, body)).id);
}

const poll = (kind: "agents" | "tools", runId: string) => call(`${kind}/run/${runId}/status`);

async function ended(runId: string): Promise<void> {
  const open = "SELECT /* test */ FROM runs WHERE id = $1 AND finished_at IS NULL";
  await vi.waitFor(async () => expect((await world.pool.query(open, [runId])).rowCount).toBe(0), 20_000);
}

const count = (name: string) => statements().filter((text) => text === name).length;

async function startHeld(): Promise<string> {
  const runId = await start("agents", '{"userMessage":"hold"}');
  const written = "SELECT /* test */ FROM model_calls WHERE run_id = $1";
  await expect.poll(async () => (await world.pool.query(written, [runId])).rowCount).toBe(1);
  return runId;
}

async function finishHeld(): Promise<void> {
  for (let call = 0; call < 3; call += 1) {
    await expect.poll(() => release).toBeDefined();
    release?.();
    release = undefined;
  }
}

// The least of five runs: when this process pauses, more rows are written on their own.
async function leastCost(kind: "agents" | "tools", body: string) {
  const costs = [];
  for (let n = 0; n < 5; n += 1) costs.push(await cost(kind, body));
  return costs.reduce((least, one) => (one.statements.length < least.statements.length ? one : least));
}

async function cost(kind: "agents" | "tools", body: string) {
  const { figures } = await world.engine.worker();
  const { accounts, journal } = structuredClone(figures());
  query.mockClear();
  await ended(await start(kind, body));
  const after = figures();
  return {
    accounts: [after.accounts.flushes - accounts.flushes, after.accounts.items - accounts.items],
    journal: [after.journal.flushes - journal.flushes, after.journal.items - journal.items],
    statements: statements(),
  };
}

it("start: one flush", async () => {
  const { figures } = await world.engine.worker();
  const { flushes } = structuredClone(figures().accounts);
  const runId = await start("agents", '{"userMessage":"hold"}');
  await expect.poll(() => release).toBeDefined();
  expect(figures().accounts.flushes).toBe(flushes + 1);
  // On a slow machine the row of the held call has been written.
  expect(new Set(statements())).toEqual(new Set(["flush-writes"]));
  await finishHeld();
  await ended(runId);
});

it("poll of a running run: one statement and the leases of reads", async () => {
  const runId = await startHeld();
  query.mockClear();
  for (let n = 0; n < 15; n += 1) expect(await poll("agents", runId)).toMatchObject({ status: "Running" });
  // Its figures come from memory while it executes here.
  expect(count("read-run")).toBe(15);
  expect(count("run-totals")).toBe(0);
  expect(count("take-rate")).toBeLessThanOrEqual(4);
  await finishHeld();
  await ended(runId);
});

it("poll of a run that executes in another process: one statement", async () => {
  const runId = await startHeld();
  const find = vi.spyOn(world.engine, "find").mockReturnValue(undefined);
  query.mockClear();
  expect(await poll("agents", runId)).toMatchObject({ status: "Running" });
  expect(statements().filter((text) => text !== "take-rate" && text !== "find-api-key")).toEqual([
    "read-run",
  ]);
  find.mockRestore();
  await finishHeld();
  await ended(runId);
});

it("poll of a finished run: only one lease of 100 reads per hundred polls", async () => {
  const runId = await start("tools", '{"a":1,"b":2}');
  await ended(runId);
  for (let n = 0; n < 112; n += 1) await poll("tools", runId);
  query.mockClear();
  for (let n = 0; n < 200; n += 1) expect(await poll("tools", runId)).toMatchObject({ status: "Completed" });
  expect(count("take-rate")).toBe(2);
  // A process that stalls for a second treats its caches as stale.
  expect(statements().filter((text) => text !== "take-rate" && text !== "find-api-key")).toEqual([]);
});

it("agent run of three model calls and two calls of functions: four flushes", async () => {
  expect(await leastCost("agents", '{"userMessage":"Hi"}')).toEqual({
    // The start, and the end with the last model call.
    accounts: [2, 2],
    // Two model calls, each with the step that followed it.
    journal: [2, 4],
    statements: Array.from({ length: 4 }, () => "flush-writes"),
  });
});

it("tool run of one step: two flushes", async () => {
  expect(await leastCost("tools", '{"a":1,"b":2}')).toEqual({
    // The start, and the end with the step.
    accounts: [2, 2],
    journal: [0, 0],
    statements: ["flush-writes", "flush-writes"],
  });
});

it("20 agent runs at once: fewer flushes than runs in each lane", async () => {
  const { figures } = await world.engine.worker();
  const before = structuredClone(figures());
  const runs = await Promise.all(Array.from({ length: 20 }, () => start("agents", '{"userMessage":"Hi"}')));
  for (const runId of runs) await ended(runId);
  const after = figures();
  // On a slow machine the call's row is also written at its beginning.
  expect(after.journal.items - before.journal.items).toBeGreaterThanOrEqual(80);
  expect(after.accounts.flushes - before.accounts.flushes).toBeLessThan(20);
  expect(after.journal.flushes - before.journal.flushes).toBeLessThan(40);
});
