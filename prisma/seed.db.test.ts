// @module-tag once
import { mkdtemp, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { seedDemo } from "@/prisma/seed";
import { hashApiKey } from "@/server/catalog/auth/api-key";
import { applyDefinitionFile } from "@/server/catalog/definition-file/apply";
import { listOperators } from "@/server/catalog/organization/operators";
import { createEncryption } from "@/server/guard/secrets/encryption";
import { createWorld, type World } from "@/testing/world";

let catalog: World;
let dataDir: string;
beforeEach(async () => {
  dataDir = await mkdtemp(join(tmpdir(), "stepwell-seed-"));
  const opened = await createWorld({ env: { APP_URL: "https://stepwell.test/", STEPWELL_DEMO: "on" } });
  catalog = { ...opened, env: { ...opened.env, dataDir } };
});
afterEach(async () => {
  await catalog.close();
  await rm(dataDir, { recursive: true });
});

test("an operator's own database gets no demo", async () => {
  const services = { ...catalog, env: { ...catalog.env, demo: false } };
  expect(await seedDemo(services)).toBeNull();
  expect([await catalog.db.organization.count(), await catalog.db.user.count()]).toEqual([0, 0]);
});

test("the first start creates the demo; later starts print it without password and key", async () => {
  const first = await seedDemo(catalog);
  expect(first?.login).toBe("demo@stepwell.test");
  expect(first?.password).toMatch(/^([2-9a-z]{4}-){3}[2-9a-z]{4}$/);
  const key = await catalog.db.apiKey.findFirstOrThrow();
  expect(hashApiKey(first?.apiKey ?? "")?.equals(key.hash)).toBe(true);
  const organization = await catalog.db.organization.findFirstOrThrow({ include: { members: true } });
  expect(organization).toMatchObject({ slug: "demo", members: [{ role: "owner" }] });
  expect(organization.balance.toFixed()).toBe("1000");
  expect(await listOperators(catalog)).toMatchObject([{ email: "demo@stepwell.test" }]);
  expect(first?.triggerUrl).toMatch(/^https:\/\/stepwell\.test\/webhooks\/[\w-]{32}$/);
  const trigger = await catalog.db.trigger.findFirstOrThrow({ where: { agentId: first?.agentId ?? "" } });
  expect(trigger.toolId).toBeNull();

  expect(first?.passwordFile).toBe(join(dataDir, "demo-password"));
  const again = await seedDemo(catalog);
  expect(again).toEqual({ ...again, login: first?.login, triggerUrl: first?.triggerUrl });
  expect(Object.keys(again ?? {})).toEqual(expect.not.arrayContaining(["password", "apiKey"]));
});

test("only the owner can read the password file", async () => {
  const demo = await seedDemo(catalog);
  const file = join(dataDir, "demo-password");
  expect((await readFile(file, "utf8")).trim()).toBe(demo?.password);
  expect((await stat(file)).mode & 0o777).toBe(0o600);
});

test("a stored password that no longer matches is not mentioned", async () => {
  await seedDemo(catalog);
  await writeFile(join(dataDir, "demo-password"), "another-password\n");
  expect((await seedDemo(catalog))?.passwordFile).toBeNull();
});

test("an unreadable webhook address does not stop the start", async () => {
  await seedDemo(catalog);
  const encryption = createEncryption("another secret, of more than thirty-two characters");
  expect((await seedDemo({ ...catalog, encryption }))?.triggerUrl).toBeNull();
});

test("two first starts at once create one demo with one key and one password", async () => {
  const both = await Promise.all([seedDemo(catalog), seedDemo(catalog)]);
  expect(both.filter((demo) => demo?.apiKey !== undefined)).toHaveLength(1);
  const passwords = new Set(both.flatMap((demo) => demo?.password ?? []));
  expect(passwords.size).toBe(1);
  expect(both.map((demo) => demo?.passwordFile)).toEqual(Array(2).fill(join(dataDir, "demo-password")));
  expect(await catalog.db.member.count()).toBe(1);
});

test("changes and deletions in the demo persist", async () => {
  await seedDemo(catalog);
  await catalog.db.agent.updateMany({ data: { name: "Mine" } });
  await seedDemo(catalog);
  expect((await catalog.db.agent.findFirstOrThrow()).name).toBe("Mine");
  await catalog.db.organization.deleteMany();
  expect(await seedDemo(catalog)).toBeNull();
  expect(await catalog.db.organization.count()).toBe(0);
});

test("an operator's organization with the demo's slug is not touched", async () => {
  await applyDefinitionFile(catalog, "organizations: [{ slug: demo }]");
  expect(await seedDemo(catalog)).toBeNull();
  expect(await catalog.db.agent.count()).toBe(0);
});

test("an interrupted first start is completed", async () => {
  await seedDemo(catalog);
  await catalog.db.setting.deleteMany({ where: { key: "demo_created_at" } });
  await catalog.db.member.deleteMany();
  expect((await seedDemo(catalog))?.password).toMatch(/^[2-9a-z-]{19}$/);
  expect(await catalog.db.member.count()).toBe(1);
});
