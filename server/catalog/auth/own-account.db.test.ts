// @module-tag once
import { readFileSync } from "node:fs";
import { beforeEach, describe, expect, it } from "vitest";
import { createDashboardCaller } from "@/server/api/dashboard/router";
import { transactPrisma } from "@/server/base/db/transaction";
import { setPassword } from "@/server/catalog/auth/accounts";
import { handleAuthRequest } from "@/server/catalog/auth/auth-requests";
import { sessionFromHeaders } from "@/server/catalog/auth/sessions";
import { createMember, TEST_PASSWORD } from "@/testing/runs";
import { signInCookie, TEST_ORIGIN } from "@/testing/sign-in";
import { createTenant, openWorld, type Tenant } from "@/testing/world";

let tenant: Tenant;
const world = await openWorld();
beforeEach(async () => {
  tenant = await createTenant(world);
});

const NEW_PASSWORD = "another-horse-battery";

async function personWithTwoBrowsers() {
  const person = await createMember(world, tenant, "viewer");
  const [here, there] = [await signInCookie(world, person), await signInCookie(world, person)];
  const sessionOf = async (cookie: string) =>
    (await sessionFromHeaders(world, new Headers({ cookie })))?.user.sessionId ?? null;
  const sessionId = (await sessionOf(here)) ?? "";
  const api = createDashboardCaller({ services: world, actor: person, requestId: "t", sessionId }).account;
  return { person, api, here, there, sessionOf };
}

const signInStatus = async (email: string, password: string) => {
  const request = new Request(`${TEST_ORIGIN}/api/auth/sign-in/email`, {
    method: "POST",
    headers: { "content-type": "application/json", origin: TEST_ORIGIN, host: "stepwell.test" },
    body: JSON.stringify({ email, password }),
  });
  return (await handleAuthRequest(world, request, "192.0.2.250")).status;
};
const change = { currentPassword: TEST_PASSWORD, newPassword: NEW_PASSWORD, endOtherSessions: false };
const actions = async () =>
  (
    await world.db.auditEntry.findMany({
      where: { organizationId: tenant.orgId, subjectKind: "member" },
      orderBy: { id: "asc" },
    })
  ).map(({ action }) => action);

describe("the own password", () => {
  it("is changed, and the other browsers stay signed in unless they are signed out", async () => {
    const { person, api, here, there, sessionOf } = await personWithTwoBrowsers();
    expect(await api.changePassword(change)).toEqual({ endedSessions: 0 });
    expect(await signInStatus(person.email, TEST_PASSWORD)).toBe(401);
    expect(await sessionOf(there)).not.toBeNull();
    const back = { currentPassword: NEW_PASSWORD, newPassword: TEST_PASSWORD, endOtherSessions: true };
    expect(await api.changePassword(back)).toEqual({ endedSessions: 1 });
    expect([await sessionOf(here), await sessionOf(there)]).toEqual([expect.any(String), null]);
    expect(await signInStatus(person.email, TEST_PASSWORD)).toBe(200);
    expect(await actions()).toEqual(["member.password_changed", "member.password_changed"]);
  });

  it.each([
    [{ currentPassword: "wrong-password" }, "/currentPassword", "is wrong"],
    [{ newPassword: TEST_PASSWORD }, "/newPassword", "must differ"],
    [{ newPassword: "short" }, "/newPassword", "must have at least 8 characters"],
    [{ newPassword: "x".repeat(129) }, "/newPassword", "must have at most 128 characters"],
  ])("stays for %o", async (part, path, message) => {
    const { person, api } = await personWithTwoBrowsers();
    await expect(api.changePassword({ ...change, ...part })).rejects.toMatchObject({
      cause: { issues: [{ path, message: expect.stringContaining(message) }] },
    });
    expect(await signInStatus(person.email, TEST_PASSWORD)).toBe(200);
  });

  it("cannot be guessed: attempts are limited, also right ones", async () => {
    const { api } = await personWithTwoBrowsers();
    const wrong = { ...change, currentPassword: "wrong-password" };
    for (let n = 0; n < 10; n += 1) await expect(api.changePassword(wrong)).rejects.toThrow("is wrong");
    await expect(api.changePassword(change)).rejects.toMatchObject({ cause: { code: "rate_limited" } });
  });

  it("is changed by one of two changes at once", async () => {
    const { api } = await personWithTwoBrowsers();
    const both = await Promise.allSettled(
      ["first", "second"].map((word) =>
        api.changePassword({ ...change, newPassword: `${word}-new-password` }),
      ),
    );
    expect(both.map(({ status }) => status).sort()).toEqual(["fulfilled", "rejected"]);
  });
});

describe("the own sessions", () => {
  it("are listed with the current one first, and never with a token", async () => {
    const { api, here, sessionOf } = await personWithTwoBrowsers();
    const listed = await api.sessions();
    expect(listed.map(({ current }) => current)).toEqual([true, false]);
    expect(listed[0]?.id).toBe(await sessionOf(here));
    expect(JSON.stringify(listed)).not.toContain("sha256:");
  });

  it("end one by one; another person's stays", async () => {
    const { api, there, sessionOf } = await personWithTwoBrowsers();
    const stranger = await personWithTwoBrowsers();
    const theirs = (await stranger.sessionOf(stranger.there)) ?? "";
    expect(await api.endSession({ sessionId: theirs })).toEqual({ ended: 0 });
    expect(await stranger.sessionOf(stranger.there)).toBe(theirs);
    const own = (await sessionOf(there)) ?? "";
    expect(await api.endSession({ sessionId: own })).toEqual({ ended: 1 });
    expect(await sessionOf(there)).toBeNull();
    expect(await api.endSession({ sessionId: own })).toEqual({ ended: 0 });
    expect(await actions()).toEqual(["member.signed_out"]);
  });

  it("all others are ended at once, and this one stays", async () => {
    const { api, here, there, sessionOf } = await personWithTwoBrowsers();
    const stranger = await personWithTwoBrowsers();
    expect(await api.endSession({ sessionId: null })).toEqual({ ended: 1 });
    expect(await sessionOf(here)).not.toBeNull();
    expect(await sessionOf(there)).toBeNull();
    expect(await stranger.sessionOf(stranger.there)).not.toBeNull();
  });
});

it("two new passwords at once leave one, the later", async () => {
  const { userId, email } = await createMember(world, tenant, "viewer");
  const at = world.clock.now();
  const set = (password: string, before: () => Promise<unknown> = async () => {}) =>
    transactPrisma(world.db, "short", async (tx) => {
      await setPassword(tx, { userId, password, at });
      await before();
    });
  let second: Promise<unknown> = Promise.resolve();
  await set("the first new password", async () => {
    second = set(NEW_PASSWORD);
    const waiting = "SELECT 1 FROM pg_locks WHERE NOT granted";
    await expect.poll(async () => (await world.pool.query(waiting)).rowCount).toBe(1);
  });
  await second;
  expect(await signInStatus(email, NEW_PASSWORD)).toBe(200);
  expect(await world.db.account.count({ where: { userId } })).toBe(1);
});

it("the migration keeps the newest of several passwords of a person", async () => {
  const { userId } = await createMember(world, tenant, "viewer");
  const folder = "prisma/migrations/20261127220000_account_per_provider";
  const migration = readFileSync(`${folder}/migration.sql`, "utf8");
  await world.pool.query(`
    DROP INDEX accounts_user_id_provider_id_key;
    CREATE INDEX accounts_user_id_idx ON accounts (user_id);
    INSERT INTO accounts (id, account_id, provider_id, user_id, password, created_at, updated_at)
    SELECT gen_random_uuid(), account_id, provider_id, user_id, 'newest', created_at + interval '1 s', updated_at
    FROM accounts WHERE user_id = '${userId}'`);
  await world.pool.query(migration);
  const left = await world.db.account.findMany({ where: { userId }, select: { password: true } });
  expect(left).toEqual([{ password: "newest" }]);
});
