import { hostname } from "node:os";
import { expect, it, onTestFinished } from "vitest";
import { z } from "zod";
import { createDashboardCaller } from "@/server/api/dashboard/router";
import { DAY_MS } from "@/server/base/clock";
import { onPausePoint } from "@/server/base/pause-points";
import { VERSION } from "@/server/base/version";
import { setOperator } from "@/server/catalog/organization/operators";
import { setSecret } from "@/server/catalog/organization/secrets";
import { createEncryption } from "@/server/guard/secrets/encryption";
import { setSecretFingerprint } from "@/server/guard/secrets/fingerprint";
import { readExamination } from "@/server/operate/doctor/doctor";
import { executeJobNow, startMaintenance } from "@/server/operate/maintenance";
import { createRegistry } from "@/server/operate/metrics/registry";
import { type ProcessFigures, readSlots } from "@/server/runs/engine/process-figures";
import { startRun } from "@/server/runs/start";
import { createProcess } from "@/testing/process";
import { createMember } from "@/testing/runs";
import { signInCookie } from "@/testing/sign-in";
import { createTenant, openWorld } from "@/testing/world";
import { readDatabaseSize, sampleDatabase } from "./database-size";
import { readQueueHistory, sampleQueue } from "./queue-history";
import { readSignIns } from "./sign-ins";
import { readSystemStatus } from "./status";

const world = await openWorld();

it("shows each process with its figures, and what /api/metrics counts", async () => {
  const process = createProcess(world, { env: { STEPWELL_SLOTS: "7" } });
  try {
    await (await process.engine.worker()).confirm();
    const reported = async () => (await readSystemStatus(world)).processes;
    await expect.poll(reported).toMatchObject([
      {
        host: hostname(),
        pid: globalThis.process.pid,
        role: "all",
        figures: { version: VERSION, slots: { used: 0, total: 7 }, connections: { most: 20 } },
      },
    ]);
    const { slots, versions } = await readSystemStatus(world);
    expect(slots).toEqual({ used: 0, total: 7, mostInDay: null });
    expect(versions).toMatchObject({ stepwell: VERSION, engine: "embedded" });
    expect(versions.schema).toMatch(/^\d{14}$/);
    expect(await (await createRegistry(process)).metrics()).toContain('stepwell_slots{state="free"} 7');
  } finally {
    await process.stop();
  }
  expect((await readSystemStatus(world)).processes).toEqual([]);
});

it("counts waiting runs by reason, and keeps a sample of each minute for a day", async () => {
  const tenant = await createTenant(world);
  const actor = { kind: "operator", orgId: tenant.orgId, name: "test" } as const;
  await startRun(world, actor, { kind: "agent", targetId: tenant.agentId, userMessage: "Hi" });
  world.clock.advance(10_000);
  const { queue, organizations } = await readSystemStatus(world);
  expect(queue?.classes).toEqual([
    { name: "at_limit", runs: 0, organizations: 0, oldestSeconds: 0 },
    { name: "below_limit", runs: 1, organizations: 1, oldestSeconds: 10 },
  ]);
  expect(queue?.backlogs.map(({ name }) => name)).toEqual(["run_index", "traces", "callbacks"]);
  expect(organizations).toMatchObject({ organizations: 1, suspended: 0, busiest: [] });

  await sampleQueue(world);
  // Another process, in the same minute.
  await sampleQueue(world);
  world.clock.advance(60_000);
  await sampleQueue(world);
  const { minutes, mostSlots } = await readQueueHistory(world);
  expect(minutes.map(({ waiting }) => waiting)).toEqual([1, 1]);
  expect(minutes.every(({ at }) => at.endsWith(":00.000Z"))).toBe(true);
  expect(mostSlots).toBe(0);
  world.clock.advance(DAY_MS + 60_000);
  await sampleQueue(world);
  expect(await world.db.queueSample.count()).toBe(1);
});

it("counts slots that are in use since the last sample among the most of a day", async () => {
  await sampleQueue(world);
  const figures: ProcessFigures = {
    version: VERSION,
    upSeconds: 1,
    slots: { used: 4, total: 100 },
    connections: { used: 1, most: 20 },
    memoryBytes: 1,
    loopDelay: { p99Ms: 1, longestMs: 1 },
  };
  await world.pool.query(
    "INSERT INTO workers (id, heartbeat_at, figures) VALUES ('busy', clock_timestamp(), $1)",
    [JSON.stringify(figures)],
  );
  const { slots } = await readSystemStatus(world);
  expect(slots).toMatchObject({ used: 4, mostInDay: 4 });
  await world.pool.query("DELETE FROM workers WHERE id = 'busy'");
});

it("measures growth from the samples of the last days, and keeps 400 of them", async () => {
  const first = await readDatabaseSize(world);
  expect(first.bytesPerDay).toBeNull();
  expect(first.tables.find(({ name }) => name === "runs")).toMatchObject({ kept: "plan", bytesPerDay: null });
  expect(first.tables.find(({ name }) => name === "credit_entries")?.kept).toBe("always");
  expect(first.retentionDays).toEqual({ least: 30, most: 30 });
  await sampleDatabase(world);
  await sampleDatabase(world);
  expect(await world.db.databaseSample.count()).toBe(1);

  const day = 1_000_000;
  await world.db.databaseSample.updateMany({
    data: { bytes: BigInt(first.bytes - 2 * day), tables: JSON.stringify({ runs: 0 }) },
  });
  world.clock.advance(2 * DAY_MS);
  const later = await readDatabaseSize(world);
  expect(later.bytesPerDay).toBeCloseTo((later.bytes - first.bytes) / 2 + day, 0);
  const runs = later.tables.find(({ name }) => name === "runs");
  expect(runs?.bytesPerDay).toBe((runs?.bytes ?? 0) / 2);

  world.clock.advance(401 * DAY_MS);
  await sampleDatabase(world);
  expect(await world.db.databaseSample.count()).toBe(1);
});

it("stores what jobs did, also that they failed, and executes one now", async () => {
  const record = async (name: string) =>
    (await readSystemStatus(world)).jobs.find((job) => job.name === name)?.last;
  expect(await executeJobNow(world, "nothing")).toBeNull();
  const done = await executeJobNow(world, "grant_credits");
  expect(done).toMatchObject({ failed: false, text: "Nothing to do" });
  expect(await record("grant_credits")).toMatchObject({ text: "Nothing to do", failed: false });

  await world.pool.query("ALTER TABLE plans RENAME TO plans_away");
  try {
    expect(await executeJobNow(world, "grant_credits")).toMatchObject({ failed: true });
  } finally {
    await world.pool.query("ALTER TABLE plans_away RENAME TO plans");
  }
  const failed = { failed: true, text: "Could not grant the month's credits; retrying in 1 h" };
  expect(await record("grant_credits")).toMatchObject(failed);

  const stop = startMaintenance(world);
  await expect.poll(() => record("grant_credits")).toMatchObject({ failed: false });
  await expect.poll(() => record("remove_expired")).toMatchObject({ failed: false });
  await stop();
});

it("lists the newest sign-ins with time, address and method", async () => {
  const { email } = await createMember(world, await createTenant(world), "viewer");
  await setOperator(world, { email, isOperator: true });
  await signInCookie(world, { email });
  const { signIns, operators } = await readSignIns(world);
  expect(operators).toEqual([email]);
  expect(signIns[0]).toMatchObject({
    email,
    isOperator: true,
    method: "Password",
    address: expect.stringMatching(/^192\.0\.2\.\d+$/),
    at: expect.stringMatching(/Z$/),
  });
});

it("doctor of the page names nothing of organizations, and is cached for 15 minutes", async () => {
  const { orgId } = await createTenant(world);
  const secret = { name: "billing_key", value: "a secret value", hosts: ["a.test"] };
  await setSecret(world, { kind: "operator", orgId, name: "test" }, { secret });
  const services = {
    ...world,
    encryption: createEncryption("another secret, of more than thirty-two characters"),
  };
  await setSecretFingerprint(services);
  const first = await readExamination(services);
  expect(first.findings.find(({ what }) => what === "secret")?.text).toMatch(
    /^Could not decrypt 1 of all secrets, triggers and callbacks; `doctor` on the command line/,
  );
  expect(JSON.stringify(first)).not.toContain("billing_key");
  expect(await readExamination(services)).toBe(first);
  services.clock.advance(15 * 60_000 + 1);
  const second = await readExamination(services);
  expect(second).not.toBe(first);
  expect(await readExamination(services, { fresh: true })).not.toBe(second);
  await setSecretFingerprint(world);
});

it("answers operators only, whatever their role", async () => {
  const tenant = await createTenant(world);
  const { email, ...actor } = await createMember(world, tenant, "viewer");
  const system = createDashboardCaller({ services: world, actor, requestId: "test" }).system;
  const ask = () => [system.status(), system.database(), system.doctor(), system.signIns()];
  const rejected = z.object({ reason: z.object({ code: z.literal("FORBIDDEN") }) });
  for (const answer of await Promise.allSettled(ask())) expect(() => rejected.parse(answer)).not.toThrow();
  await setOperator(world, { email, isOperator: true });
  await Promise.all(ask());
  await setOperator(world, { email, isOperator: false });
  await expect(system.status()).rejects.toMatchObject({ code: "FORBIDDEN" });
});

it("counts no slot as used while a claim reserves it", async () => {
  const tenant = await createTenant(world);
  const actor = { kind: "operator", orgId: tenant.orgId, name: "test" } as const;
  const process = createProcess(world, { env: { STEPWELL_SLOTS: "7" } });
  const used: number[] = [];
  onPausePoint((point) => {
    if (point === "claim:after") used.push(readSlots(process).used);
    return undefined;
  });
  onTestFinished(async () => {
    onPausePoint(null);
    await process.stop();
  });
  await startRun(world, actor, { kind: "agent", targetId: tenant.agentId, userMessage: "Hi" });
  await process.engine.execute();
  await expect.poll(() => used[0]).toBe(0);
});
