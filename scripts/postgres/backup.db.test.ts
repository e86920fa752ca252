import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { EventEmitter, once } from "node:events";
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { prepareDatabase } from "@/server/base/db/prepare-database";
import { checkSecretFingerprint } from "@/server/guard/secrets/fingerprint";
import { startRun } from "@/server/runs/start";
import { callCommandLine } from "@/testing/command-line";
import { startEngine } from "@/testing/execute";
import { expectSoundLedger } from "@/testing/ledger";
import { createProcess } from "@/testing/process";
import { createTenant, createWorld, openWorld, quietModels, type Tenant } from "@/testing/world";
import { backUp } from "./backup.mjs";
import { readManifest } from "./manifest.mjs";
import { joinPostgres } from "./postgres.mjs";
import { runningCluster } from "./postgres-cluster.mjs";
import { restore } from "./restore.mjs";
import { createThrowaway, removeThrowaway } from "./throwaway.mjs";

const SECRET = "test-secret-test-secret-test-secret";
const EXECUTING = 3;

const plain = await openWorld();
let folder: string;
let target: string;
let tenant: Tenant;
let total: number;
const executing: string[] = [];

/** Outside a test, `expect.poll` does not work. */
const until = (reached: () => Promise<boolean>) => vi.waitUntil(reached, { timeout: 60_000 });

beforeAll(async () => {
  folder = await createThrowaway();
  target = join(folder, "backup");
  const { url, cluster, leave } = await joinPostgres(join(folder, "data"));
  await prepareDatabase(url, ".");
  const world = await createWorld({ beside: plain, databaseUrl: url });
  await checkSecretFingerprint(world);
  tenant = await createTenant(world, { credits: "100000", plan: { concurrency: 20 } });
  const gate = new EventEmitter();
  const released = once(gate, "open");
  const service = createProcess(world, {
    async call(...request) {
      await released;
      return quietModels.call(...request);
    },
  });
  startEngine(service);
  const actor = { kind: "operator", orgId: tenant.orgId, name: "test" } as const;
  for (let index = 0; index < EXECUTING; index += 1) {
    const start = { kind: "agent", targetId: tenant.agentId, userMessage: "Hi" } as const;
    executing.push((await startRun(service, actor, start)).runId);
  }
  const where = { id: { in: executing }, claimedBy: { not: null }, startedAt: { not: null } };
  await until(async () => (await world.db.run.count({ where })) === EXECUTING);
  const load = { isOver: false };
  const loading = (async () => {
    while (!load.isOver) {
      await startRun(service, actor, { kind: "tool", targetId: tenant.toolId, input: { a: 1, b: 2 } });
    }
  })();
  const ended = { kind: "tool", status: "Completed" } as const;
  await until(async () => (await world.db.run.count({ where: ended })) > 5);

  await backUp(target, { url, cluster, secret: SECRET });

  const { rows } = await readManifest(target);
  await until(async () => (await world.db.run.count()) > (rows.runs ?? 0) + 1);
  load.isOver = true;
  await loading;
  gate.emit("open");
  total = await world.db.run.count();
  await service.stop();
  await world.close();
  await leave();
}, 180_000);
afterAll(async () => {
  // Databases that a failed test left running.
  for (const name of ["data", "restored"]) await removeThrowaway(join(folder, name));
  await removeThrowaway(folder);
});

test("a backup of a running service under load is restored, and its open runs continue", async () => {
  const dataDir = join(folder, "restored");
  const lines = await restore(target, dataDir);
  const { createdAt, rows } = await readManifest(target);
  expect(lines[0]).toContain(`Restored the backup of ${createdAt}`);
  expect(lines).toContain("  Every balance agrees with its ledger.");
  const text = lines.join("\n");
  for (const id of executing) expect(text).toContain(id);
  expect(text).not.toContain("fewer");
  expect(text).not.toContain("fingerprint");
  expect(text).not.toContain("migrate");
  expect(readFileSync(join(dataDir, "secret"), "utf8").trim()).toBe(SECRET);
  expect(runningCluster(join(dataDir, "postgres"))).toBeUndefined();

  const { url, leave } = await joinPostgres(dataDir);
  const world = await createWorld({ beside: plain, databaseUrl: url });
  const service = createProcess(world, { env: { STEPWELL_DATA_DIR: dataDir } });
  try {
    const restored = await world.db.run.count();
    expect(restored).toBeGreaterThanOrEqual(rows.runs ?? Number.NaN);
    expect(restored).toBeLessThan(total);
    startEngine(service);
    await expect.poll(() => world.db.run.count({ where: { finishedAt: null } })).toBe(0);
    const counts = await world.db.run.groupBy({ by: ["status"], _count: true });
    expect(counts).toEqual([{ status: "Completed", _count: restored }]);
    await expectSoundLedger(world, tenant);
    const { out } = await callCommandLine(service, ["doctor"]);
    expect(out).toMatch(/^ok +migrations /m);
    expect(out).not.toMatch(/^fail/m);
  } finally {
    await service.stop();
    await world.close();
    await leave();
  }
});

test("only the owner can read a backup", () => {
  const entries = readdirSync(target, { recursive: true, withFileTypes: true });
  expect(statSync(target).mode & 0o777).toBe(0o700);
  for (const entry of entries) {
    const mode = statSync(join(entry.parentPath, entry.name)).mode & 0o777;
    expect([entry.name, mode]).toEqual([entry.name, entry.isDirectory() ? 0o700 : 0o600]);
  }
  expect(entries.map(({ name }) => name)).not.toContain("postmaster.pid");
});

test("a backup replaces nothing", async () => {
  const source = { url: "postgres://unused", cluster: join(folder, "data/postgres"), secret: SECRET };
  await expect(backUp(target, source)).rejects.toThrow(/is not empty/);
  await expect(backUp(join(folder, "none/backup"), source)).rejects.toThrow(/does not exist/);
});

test.each([
  ["a missing secret", "", /^The secret of the database is missing: STEPWELL_SECRET is not set/],
  ["another secret", "another-secret-another-secret-another", /^The secret is not that of the database/],
])("%s is rejected, and none is created", (_what, secret, message) => {
  const dataDir = join(folder, "data");
  const env = {
    ...process.env,
    DATABASE_URL: "",
    STEPWELL_DATA_DIR: dataDir,
    STEPWELL_ENV_FILE: "",
    STEPWELL_SECRET: secret,
    TARGET: join(folder, "wrong"),
  };
  const program = `import { runBackupCommand } from "./scripts/postgres/backup-commands.mjs";
    import { runCommand } from "./scripts/support/shutdown.mjs";
    await runCommand(() => runBackupCommand(["backup", process.env.TARGET]));`;
  const { status, stderr } = spawnSync(process.execPath, ["--input-type=module", "--eval", program], {
    env,
    encoding: "utf8",
  });
  expect(stderr.trim()).toMatch(message);
  expect(status).toBe(1);
  expect(existsSync(join(dataDir, "secret"))).toBe(false);
  expect(readdirSync(folder).filter((name) => name.startsWith("wrong"))).toEqual([]);
});

test("an interrupted backup leaves nothing", async () => {
  const { url, cluster, leave } = await joinPostgres(join(folder, "data"));
  const ending = new AbortController();
  const source = { url, cluster, secret: SECRET, signal: ending.signal };
  const copying = backUp(join(folder, "interrupted"), source);
  const copied = () => readdirSync(folder).some((name) => name.startsWith("interrupted.making"));
  await expect.poll(copied, { interval: 5 }).toBe(true);
  ending.abort();
  await expect(copying).rejects.toThrow(/abort/);
  await leave();
  expect(readdirSync(folder).filter((name) => name.startsWith("interrupted"))).toEqual([]);
});

test("a data folder with anything in it is rejected", async () => {
  const dataDir = join(folder, "occupied");
  mkdirSync(dataDir);
  writeFileSync(join(dataDir, "secret"), "mine");
  await expect(restore(target, dataDir)).rejects.toThrow(/is not empty/);
  expect(readFileSync(join(dataDir, "secret"), "utf8")).toBe("mine");
});

test.each([
  ["another major version", { postgres: 16 }, /PostgreSQL 16, and this version has PostgreSQL \d+/],
  ["a newer schema", { migration: "20990101000000_later" }, /newer schema \(20990101000000_later\)/],
  ["a path outside", { folders: ["postgres/../../x"] }, /manifest\.json is damaged/],
])("%s is rejected", async (_what, change, message) => {
  const path = join(target, "manifest.json");
  const before = readFileSync(path, "utf8");
  writeFileSync(path, JSON.stringify({ ...JSON.parse(before), ...change }));
  try {
    await expect(restore(target, join(folder, "rejected"))).rejects.toThrow(message);
  } finally {
    writeFileSync(path, before);
  }
});

test.each(["postgres/PG_VERSION", "secret"])("a changed %s is rejected and leaves nothing", async (name) => {
  const path = join(target, name);
  const before = readFileSync(path);
  const changed = Buffer.from(before);
  changed.writeUInt8(changed.readUInt8(0) ^ 1, 0);
  writeFileSync(path, changed);
  const dataDir = join(folder, "changed");
  try {
    await expect(restore(target, dataDir)).rejects.toThrow(`${path} is missing or not what was backed up`);
    rmSync(path);
    await expect(restore(target, dataDir)).rejects.toThrow(`${path} is missing or not what was backed up`);
  } finally {
    writeFileSync(path, before);
  }
  expect(readdirSync(folder).includes("changed") ? readdirSync(dataDir) : []).toEqual([]);
});

test("a restore reports a secret that is not the database's own, and an older schema", async () => {
  const files = ["secret", "manifest.json"].map((name) => join(target, name));
  const [secret = "", manifest = ""] = files.map((path) => readFileSync(path, "utf8"));
  const other = "another-secret-another-secret-another\n";
  const sha256 = (text: string) => createHash("sha256").update(text).digest("hex");
  writeFileSync(join(target, "secret"), other);
  const { migration } = await readManifest(target);
  const changed = manifest
    .replace(sha256(secret), sha256(other))
    .replace(migration, "20261122000000_baseline");
  writeFileSync(join(target, "manifest.json"), changed);
  const dataDir = join(folder, "other");
  try {
    const lines = await restore(target, dataDir);
    expect(lines.at(-1)).toMatch(/^The secret of this backup is not that of its database/);
    expect(lines.join("\n")).toContain("Migrate it first: npm run -s stepwell -- migrate\n");
  } finally {
    writeFileSync(join(target, "secret"), secret);
    writeFileSync(join(target, "manifest.json"), manifest);
    await removeThrowaway(dataDir);
  }
});

test("an incomplete folder is no backup", async () => {
  await expect(restore(folder, join(folder, "rejected"))).rejects.toThrow(/has no manifest\.json/);
});
