import { describe, expect, it, onTestFinished, vi } from "vitest";
import type { JsonObject } from "@/server/base/json/json";
import type { SendMail } from "@/server/guard/mail/message";
import { removeExpired } from "@/server/operate/retention";
import { startRun } from "@/server/runs/start";
import { executeRun, replaceWorker, startEngine } from "@/testing/execute";
import { statementName } from "@/testing/process";
import { openDatabaseProxy } from "@/testing/servers/database-proxy";
import { insertTool } from "@/testing/tools";
import { createTenant, createWorld, openWorld, type Tenant } from "@/testing/world";
import { readKeyValue, writeKeyValue } from "./key-values";

const world = await openWorld();
const beside = await openWorld({ beside: world });

let calls = 0;
const write = (orgId: Parameters<typeof writeKeyValue>[1], value: object) => {
  calls += 1;
  // A process lets one write of an organization at a time reach the database.
  const process = calls % 2 === 0 ? world : beside;
  return writeKeyValue(process, orgId, { key: "k", value: 1, call: `run:${calls}`, ...value });
};

describe("a value", () => {
  it("is the organization's own, and counts its writes", async () => {
    const [{ orgId }, other] = [await createTenant(world), await createTenant(world)];
    expect(await readKeyValue(world, orgId, "k")).toBeNull();
    expect(await write(orgId, { value: { a: [1, "\u2028"] } })).toEqual({ outcome: "written", version: 1 });
    expect(await write(orgId, { value: null })).toEqual({ outcome: "written", version: 2 });
    expect(await readKeyValue(world, orgId, "k")).toEqual({ value: null, version: 2 });
    expect(await readKeyValue(world, other.orgId, "k")).toBeNull();
  });

  it("is written only at the expected version", async () => {
    const { orgId } = await createTenant(world);
    expect(await write(orgId, { ifVersion: 1 })).toEqual({ outcome: "conflict", version: 0 });
    expect(await write(orgId, { ifVersion: 0 })).toEqual({ outcome: "written", version: 1 });
    expect(await write(orgId, { ifVersion: 0 })).toEqual({ outcome: "conflict", version: 1 });
    const racing = await Promise.all(Array.from({ length: 8 }, () => write(orgId, { ifVersion: 1 })));
    expect(racing.filter(({ outcome }) => outcome === "written")).toEqual([
      { outcome: "written", version: 2 },
    ]);
  });

  it("has no version beyond the database's numbers", async () => {
    const tenant = await createTenant(world);
    const call = (ifVersion: number) => {
      const input = { key: "k", value: 1, ifVersion };
      return { id: `v${ifVersion}`, uses: "set_value", with: input, retries: 1, onError: "continue" };
    };
    const targetId = await insertTool(world, tenant, {
      slug: "writes",
      definition: { steps: [call(2_147_483_647), call(2_147_483_648)], output: "{{ steps.*.code }}" },
    });
    const actor = { kind: "operator", orgId: tenant.orgId, name: "test" } as const;
    const { runId } = await startRun(world, actor, { kind: "tool", targetId, input: {} });
    await executeRun(world, runId);
    const { output } = await world.db.run.findUniqueOrThrow({ where: { id: runId } });
    expect(JSON.parse(output ?? "")).toEqual(["version_conflict", "invalid_input"]);
  });

  it("counts as absent when it has expired, and never has the same version twice", async () => {
    const { orgId } = await createTenant(world);
    await write(orgId, { ttlSeconds: 60 });
    world.clock.advance(59_999);
    expect(await readKeyValue(world, orgId, "k")).toEqual({ value: 1, version: 1 });
    world.clock.advance(1);
    expect(await readKeyValue(world, orgId, "k")).toBeNull();
    expect(await write(orgId, { ifVersion: 1 })).toEqual({ outcome: "conflict", version: 0 });
    expect(await write(orgId, { ifVersion: 0 })).toEqual({ outcome: "written", version: 2 });
  });

  it("is written once by a call that is repeated, whatever happened meanwhile", async () => {
    const { orgId } = await createTenant(world);
    expect(await write(orgId, { call: "a", value: "a" })).toEqual({ outcome: "written", version: 1 });
    await write(orgId, { value: "b" });
    expect(await write(orgId, { call: "a", value: "a", ifVersion: 0 })).toEqual({
      outcome: "written",
      version: 1,
    });
    expect(await readKeyValue(world, orgId, "k")).toEqual({ value: "b", version: 2 });
  });

  it("is rejected beyond the organization's number of keys and bytes, exactly", async () => {
    const { orgId } = await createTenant(world);
    await world.pool.query(
      `INSERT INTO key_values SELECT $1, 'key ' || n, '1', 1, now() FROM generate_series(1, 9999) AS n`,
      [orgId],
    );
    const racing = await Promise.all(Array.from({ length: 4 }, (_, i) => write(orgId, { key: `new ${i}` })));
    expect(racing.map(({ outcome }) => outcome).sort()).toEqual([
      "too many",
      "too many",
      "too many",
      "written",
    ]);
    expect(await write(orgId, { key: "key 1" })).toMatchObject({ outcome: "written" });
    await world.pool.query("DELETE FROM key_values WHERE organization_id = $1", [orgId]);
    await world.pool.query(
      `INSERT INTO key_values SELECT $1, 'key ' || n, to_json(repeat('x', 262000)), 1, now() FROM generate_series(1, 256) AS n`,
      [orgId],
    );
    expect(await write(orgId, { value: "x".repeat(50_000) })).toMatchObject({ outcome: "too large" });
  });

  it("goes a day after it has expired; records of writes go after three days", async () => {
    const { orgId } = await createTenant(world);
    await write(orgId, { ttlSeconds: 60 });
    await write(orgId, { key: "stays" });
    const count = async () => [
      await world.db.keyValue.count({ where: { organizationId: orgId } }),
      await world.db.keyValueWrite.count({ where: { organizationId: orgId } }),
    ];
    await removeExpired(world);
    expect(await count()).toEqual([2, 2]);
    world.clock.advance(86_400_000 + 60_000);
    await removeExpired(world);
    expect(await count()).toEqual([1, 2]);
    world.clock.advance(2 * 86_400_000);
    await removeExpired(world);
    expect(await count()).toEqual([1, 0]);
  });
});

it("an organization's writes use one connection of the process, and all of them four", async () => {
  const { pool } = world;
  const query = pool.query.bind(pool);
  let [inProgress, most] = [0, 0];
  const spy = vi.spyOn(pool, "query").mockImplementation(async (...parts: unknown[]) => {
    if (statementName(parts) !== "set-key-value") return Reflect.apply(query, pool, parts);
    inProgress += 1;
    most = Math.max(most, inProgress);
    try {
      return await Reflect.apply(query, pool, parts);
    } finally {
      inProgress -= 1;
    }
  });
  onTestFinished(() => spy.mockRestore());
  const writeMany = async (tenants: Tenant[]) => {
    most = 0;
    const each = tenants.flatMap(({ orgId }) =>
      Array.from({ length: 8 }, (_, n) =>
        writeKeyValue(world, orgId, { key: "k", value: n, call: `run:${n}` }),
      ),
    );
    const versions = (await Promise.all(each)).map(({ version }) => version);
    expect(versions.filter((version) => version === 8)).toHaveLength(tenants.length);
    return most;
  };
  const tenants = await Promise.all(Array.from({ length: 6 }, () => createTenant(world)));
  expect(await writeMany(tenants.slice(0, 1))).toBe(1);
  expect(await writeMany(tenants.slice(1))).toBe(4);
});

it("a step that sets a value and is repeated after a takeover sets it once", async () => {
  const tenant = await createTenant(world);
  const definition = {
    steps: [
      { id: "set", uses: "set_value", with: { key: "counter", value: 1 } },
      { id: "get", uses: "get_value", with: { key: "counter" } },
    ],
  };
  const targetId = await insertTool(world, tenant, { slug: "counts", definition });
  const actor = { kind: "operator", orgId: tenant.orgId, name: "test" } as const;
  const { runId } = await startRun(world, actor, { kind: "tool", targetId, input: {} });
  // The worker is replaced when it has written the value and not yet its step.
  const { pool } = world;
  const query = pool.query.bind(pool);
  let replaced = false;
  const spy = vi.spyOn(pool, "query").mockImplementation(async (...parts: unknown[]) => {
    const result: unknown = await Reflect.apply(query, pool, parts);
    if (statementName(parts) === "set-key-value" && !replaced) {
      replaced = true;
      await replaceWorker(world);
    }
    return result;
  });
  await executeRun(world, runId).catch(() => undefined);
  spy.mockRestore();
  expect(replaced).toBe(true);
  expect(await executeRun(beside, runId)).toBe("ended");
  const { output } = await world.db.run.findUniqueOrThrow({ where: { id: runId } });
  expect(JSON.parse(output ?? "")).toEqual({ value: 1, version: 1 });
  expect(await world.db.keyValueWrite.count({ where: { organizationId: tenant.orgId } })).toBe(1);
});

describe("while the database is unavailable", () => {
  const sent = vi.fn<SendMail>(async ({ to }) => ({ messageId: "<1>", accepted: [...to], rejected: [] }));

  /** Prepares a run of these steps in a process behind its own proxy to the database. */
  async function openProcess(...steps: JsonObject[]) {
    const proxy = await openDatabaseProxy(world.env.databaseUrl);
    const process = await createWorld({ beside: world, databaseUrl: proxy.url, sendMail: sent });
    onTestFinished(async () => {
      await process.close();
      await proxy.close();
    });
    const tenant = await createTenant(world);
    const targetId = await insertTool(world, tenant, { slug: "calls", definition: { steps } });
    const actor = { kind: "operator", orgId: tenant.orgId, name: "test" } as const;
    const { runId } = await startRun(process, actor, { kind: "tool", targetId, input: {} });
    const where = { id: runId };
    const read = () => world.db.run.findUniqueOrThrow({ where, include: { steps: true } });
    return { proxy, process, orgId: tenant.orgId, read };
  }

  it("steps repeat their statements", async () => {
    const { proxy, process, orgId, read } = await openProcess(
      { id: "get", uses: "get_value", with: { key: "k" } },
      { id: "set", uses: "set_value", with: { key: "k", value: 1 } },
      { id: "send", uses: "send_email", with: { to: "ada@a.test", subject: "Stock", text: "Four lamps" } },
    );
    proxy.cut(
      { request: "read-key-value", moment: "before" },
      { request: "set-key-value", moment: "after" },
      { request: "take-rate", moment: "before" },
    );
    startEngine(process);
    await expect.poll(async () => (await read()).status).toBe("Completed");
    expect((await read()).steps.map(({ status }) => status)).toEqual(["Completed", "Completed", "Completed"]);
    expect(await readKeyValue(world, orgId, "k")).toEqual({ value: 1, version: 1 });
    expect(sent).toHaveBeenCalledOnce();
    expect(proxy.left()).toBe(0);
  });

  it("no step fails because its time is over", async () => {
    const set = { id: "set", uses: "set_value", with: { key: "k", value: 1 }, timeoutMs: 300 };
    const { proxy, process, orgId, read } = await openProcess(set);
    const writer = await world.pool.connect();
    onTestFinished(async () => writer.release(true));
    await writer.query("SELECT pg_advisory_lock(hashtextextended('key_values ' || $1, 0))", [orgId]);
    startEngine(process);
    const isWaiting = "SELECT FROM pg_locks WHERE locktype = 'advisory' AND NOT granted";
    await expect.poll(async () => (await world.pool.query(isWaiting)).rowCount).toBe(1);
    proxy.reject(true);
    const logged = () => process.log.entries.map(({ message }) => message);
    await expect.poll(logged).toContain("A run failed with a platform error; retrying");
    await writer.query("SELECT pg_advisory_unlock_all()");
    proxy.reject(false);
    await expect.poll(async () => (await read()).status).toBe("Completed");
    expect((await read()).steps).toMatchObject([{ status: "Completed", errorMessage: null }]);
    expect(await readKeyValue(world, orgId, "k")).toEqual({ value: 1, version: 1 });
  });
});
