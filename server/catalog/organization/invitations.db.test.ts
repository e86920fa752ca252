// @module-tag once
import { beforeEach, expect, test } from "vitest";
import type { MemberActor } from "@/server/base/actor";
import { HOUR_MS } from "@/server/base/clock";
import { newId } from "@/server/base/ids";
import { sleep } from "@/server/base/sleep";
import { sessionFromHeaders } from "@/server/catalog/auth/sessions";
import { createMember } from "@/testing/runs";
import { signInCookie } from "@/testing/sign-in";
import { createTenant, openWorld, type Tenant } from "@/testing/world";
import { changeCatalog } from "../change";
import { acceptInvitation, readInvitation } from "./accept-invitation";
import { createInvitation, listInvitations, revokeInvitation } from "./invitations";
import { changeMemberRole, removeMember } from "./members";

let tenant: Tenant;
let owner: MemberActor;
const world = await openWorld();
beforeEach(async () => {
  tenant = await createTenant(world);
  owner = await createMember(world, tenant, "owner");
});

const newEmail = () => `${newId()}@invited.test`;
const account = { name: "New Person", password: "correct-horse-battery" };
const invite = (email: string, actor = owner, role: MemberActor["role"] = "member") =>
  createInvitation(world, actor, { email, role });
const membersOf = (email: string) =>
  world.db.member.findMany({ where: { organizationId: tenant.orgId, user: { email } } });
const audited = () =>
  world.db.auditEntry.findMany({
    where: { organizationId: tenant.orgId, subjectKind: "invitation" },
    orderBy: { id: "asc" },
    select: { action: true, subjectId: true },
  });
const gone = { code: "not_found", message: expect.stringContaining("Ask for a new one") };

test("a link makes a new person a member once, with the name and password they choose", async () => {
  const email = newEmail();
  const { token } = await invite(email.toUpperCase());
  expect(token).toMatch(/^[\w-]{43}$/);
  expect(JSON.stringify(await world.db.invitation.findMany())).not.toContain(token);
  expect(JSON.stringify(await listInvitations(world, owner))).not.toContain(token);
  expect(await readInvitation(world, token)).toEqual({
    organization: tenant.slug,
    email,
    role: "member",
    invitedBy: "A owner",
    hasAccount: false,
  });
  expect(await acceptInvitation(world, { token, session: null, account })).toMatchObject({ email });
  expect(await membersOf(email)).toMatchObject([{ role: "member" }]);
  expect(await signInCookie(world, { email })).toContain("session_token");
  await expect(readInvitation(world, token)).rejects.toMatchObject(gone);
  await expect(acceptInvitation(world, { token, session: null, account })).rejects.toMatchObject(gone);
  expect(await audited()).toMatchObject([
    { action: "invitation.created" },
    { action: "invitation.accepted" },
  ]);
});

test("of two uses at once, one succeeds and one account is made", async () => {
  const email = newEmail();
  const { token } = await invite(email);
  const use = () => acceptInvitation(world, { token, session: null, account });
  const both = await Promise.allSettled([use(), use()]);
  expect(both.map(({ status }) => status).sort()).toEqual(["fulfilled", "rejected"]);
  expect(await world.db.user.count({ where: { email } })).toBe(1);
});

test("using a link waits for a long change of the catalog, as other changes do", async () => {
  const email = newEmail();
  const { token } = await invite(email);
  let using: Promise<PromiseSettledResult<unknown>[]> | undefined;
  await changeCatalog(world, { actor: owner, role: "owner" }, async () => {
    using = Promise.allSettled([acceptInvitation(world, { token, session: null, account })]);
    // Prisma's own limit of a transaction is 5 s.
    await sleep(5_200);
  });
  expect(await using).toMatchObject([{ status: "fulfilled", value: { email } }]);
});

test("an existing account joins only when it is signed in, and keeps its password", async () => {
  const { email, userId } = await createMember(world, await createTenant(world));
  const stranger = await createMember(world, await createTenant(world));
  const { token } = await invite(email);
  expect((await readInvitation(world, token)).hasAccount).toBe(true);
  for (const session of [null, { id: newId(), userId: stranger.userId }]) {
    await expect(acceptInvitation(world, { token, session, account })).rejects.toMatchObject({
      code: "unauthenticated",
    });
  }
  const [here, elsewhere] = [await signInCookie(world, { email }), await signInCookie(world, { email })];
  const sessionOf = (cookie: string) => sessionFromHeaders(world, new Headers({ cookie }));
  const id = (await sessionOf(here))?.user.sessionId ?? "";
  await acceptInvitation(world, { token, session: { id, userId }, account: undefined });
  expect(await membersOf(email)).toMatchObject([{ role: "member" }]);
  expect((await sessionOf(here))?.member?.orgId).toBe(tenant.orgId);
  expect((await sessionOf(elsewhere))?.member?.orgId).not.toBe(tenant.orgId);
});

test("the account's name and password are checked", async () => {
  const { token } = await invite(newEmail());
  const use = (part: object) =>
    acceptInvitation(world, { token, session: null, account: { ...account, ...part } });
  await expect(use({ password: "short" })).rejects.toMatchObject({ issues: [{ path: "/password" }] });
  await expect(use({ name: " " })).rejects.toMatchObject({ issues: [{ path: "/name" }] });
  await expect(use({ email: "other@invited.test" })).rejects.toMatchObject({ issues: [{ path: "/email" }] });
});

test("a link ends when it expires, is revoked or is replaced by another", async () => {
  const email = newEmail();
  const first = await invite(email);
  const second = await invite(email);
  await expect(readInvitation(world, first.token)).rejects.toMatchObject(gone);
  expect((await listInvitations(world, owner)).map(({ id }) => id)).toEqual([second.id]);
  expect(await audited()).toEqual([
    { action: "invitation.created", subjectId: first.id },
    { action: "invitation.revoked", subjectId: first.id },
    { action: "invitation.created", subjectId: second.id },
  ]);
  await revokeInvitation(world, owner, second);
  await expect(readInvitation(world, second.token)).rejects.toMatchObject(gone);
  await expect(revokeInvitation(world, owner, second)).rejects.toMatchObject({ code: "not_found" });
  const third = await invite(email);
  await world.db.invitation.update({ where: { id: third.id }, data: { expiresAt: world.clock.now() } });
  await expect(readInvitation(world, third.token)).rejects.toMatchObject(gone);
  expect(await listInvitations(world, owner)).toMatchObject([{ expired: true }]);
});

test("an organization creates a limited number of links, also if it revokes them", async () => {
  for (let n = 0; n < 100; n += 1) await revokeInvitation(world, owner, await invite(newEmail()));
  await expect(invite(newEmail())).rejects.toMatchObject({ code: "rate_limited" });
  world.clock.advance(HOUR_MS);
  await invite(newEmail());
});

test("a link ends when its inviter could no longer invite", async () => {
  const admin = await createMember(world, tenant, "admin");
  const [first, second] = [await invite(newEmail(), admin), await invite(newEmail(), admin)];
  await changeMemberRole(world, owner, { userId: admin.userId, role: "member" });
  await expect(readInvitation(world, first.token)).rejects.toMatchObject(gone);
  await changeMemberRole(world, owner, { userId: admin.userId, role: "admin" });
  expect(await readInvitation(world, first.token)).toMatchObject({ role: "member" });
  await removeMember(world, owner, { userId: admin.userId });
  const use = acceptInvitation(world, { token: second.token, session: null, account });
  await expect(use).rejects.toMatchObject(gone);
});

test("only admins invite, only owners invite owners, and members are not invited", async () => {
  const forbidden = { code: "forbidden" };
  for (const role of ["viewer", "member"] as const) {
    const actor = await createMember(world, tenant, role);
    await expect(invite(newEmail(), actor)).rejects.toMatchObject(forbidden);
  }
  const admin = await createMember(world, tenant, "admin");
  await expect(invite(newEmail(), admin, "owner")).rejects.toMatchObject(forbidden);
  expect(await invite(newEmail(), owner, "owner")).toMatchObject({ role: "owner" });
  const { email } = await createMember(world, tenant, "viewer");
  await expect(invite(email)).rejects.toMatchObject({
    issues: [{ path: "/email", message: expect.stringContaining("already a member, with the role viewer") }],
  });
});
