import { afterAll, expect, test, vi } from "vitest";
import type { MemberActor } from "@/server/base/actor";
import { newId } from "@/server/base/ids";
import { sessionFromHeaders } from "@/server/catalog/auth/sessions";
import { changeMemberRole } from "@/server/catalog/organization/members";
import { setOperator } from "@/server/catalog/organization/operators";
import {
  createMemberPasswordLink,
  createOperatorPasswordLink,
  requestPasswordLink,
} from "@/server/catalog/organization/password-links";
import { setPasswordOf } from "@/server/catalog/organization/reset-password";
import { createGuardedConnect } from "@/server/guard/egress/guarded-connect";
import { createMailer } from "@/server/guard/mail/smtp";
import { createMember, TEST_PASSWORD } from "@/testing/runs";
import { startMailServer } from "@/testing/servers/mail-server";
import { signInCookie, TEST_ORIGIN } from "@/testing/sign-in";
import { createTenant, openWorld } from "@/testing/world";
import { POST as read } from "./read/route";
import { POST as request } from "./request/route";
import { POST as use } from "./use/route";

const server = await startMailServer();
afterAll(() => server.close());
const settings = {
  host: "127.0.0.1",
  port: server.port,
  secure: false,
  requireTls: false,
  user: undefined,
  password: undefined,
  from: "Stepwell <no-reply@stepwell.test>",
};
const connect = createGuardedConnect({ allow: [server.host] });
const world = await openWorld({ sendMail: createMailer(settings, connect) });
vi.stubGlobal("stepwellServices", world);
const tenant = await createTenant(world);

const NEW_PASSWORD = "a new horse battery";
let address = 0;
async function call(route: (request: Request) => Promise<Response>, sent: object, origin = TEST_ORIGIN) {
  address += 1;
  const headers = {
    "content-type": "application/json",
    origin,
    host: "stepwell.test",
    "x-stepwell-peer": `192.0.2.${address % 250}`,
  };
  const url = `${TEST_ORIGIN}/api/password`;
  const response = await route(new Request(url, { method: "POST", headers, body: JSON.stringify(sent) }));
  return { status: response.status, body: await response.json() };
}

const LINK = /http:\/\/stepwell\.test\/reset-password#([\w-]{64})/;
/** The email's lines may be folded. */
const mailedToken = () => LINK.exec((server.messages.at(-1) ?? "").replaceAll("=\r\n", ""))?.[1] ?? "";

async function mailTo(email: string): Promise<string> {
  address += 1;
  const clientAddress = `198.51.100.${address % 250}`;
  const { sending } = await requestPasswordLink(world, { email, clientAddress });
  await sending;
  return mailedToken();
}

const isSignedIn = async (cookie: string) =>
  (await sessionFromHeaders(world, new Headers({ cookie }), { visit: false })) !== null;

const auditOf = async (userId: string) =>
  (await world.db.auditEntry.findMany({ where: { subjectId: userId }, orderBy: { id: "asc" } })).map(
    ({ action, actor, organizationId }) =>
      `${action} by ${actor}${organizationId === null ? "" : " in its organization"}`,
  );

test("a link by email sets a new password once, and ends all sessions", async () => {
  const person = await createMember(world, tenant);
  const cookie = await signInCookie(world, person);
  expect(await isSignedIn(cookie)).toBe(true);
  const before = server.messages.length;
  expect(await call(request, { email: person.email.toUpperCase() })).toEqual({ status: 200, body: {} });
  await expect.poll(() => server.messages.length).toBe(before + 1);
  expect(server.messages.at(-1)).toContain(`To: ${person.email}`);
  const token = mailedToken();
  const { rows } = await world.pool.query("SELECT * FROM one_time_links");
  expect(JSON.stringify(rows)).not.toContain(token.slice(-20));

  expect(await call(read, { token })).toEqual({ status: 200, body: { email: person.email } });
  const weak = await call(use, { token, input: { password: "short" } });
  expect(weak).toMatchObject({ status: 400, body: { issues: [{ path: "/password" }] } });
  const input = { password: NEW_PASSWORD };
  expect(await call(use, { token, input }, "https://evil.test")).toMatchObject({ status: 403 });
  const answers = await Promise.all([1, 2].map(() => call(use, { token, input })));
  expect(answers.map(({ status }) => status).sort()).toEqual([200, 404]);

  expect(await isSignedIn(cookie)).toBe(false);
  expect(await signInCookie(world, person)).toBe("");
  expect(await auditOf(person.userId)).toEqual([
    `member.password_reset by user:${person.userId} in its organization`,
  ]);
  expect(await call(read, { token })).toMatchObject({ status: 404, body: { code: "not_found" } });
});

test("the answer and its time do not tell whether an email has an account", async () => {
  const { email } = await createMember(world, tenant);
  const before = server.messages.length;
  const answers = [await call(request, { email }), await call(request, { email: `${newId()}@nobody.test` })];
  expect(answers[0]).toEqual(answers[1]);
  await expect.poll(() => server.messages.length).toBe(before + 1);
  const unknown = await requestPasswordLink(world, { email: "x@nobody.test", clientAddress: "203.0.113.1" });
  await unknown.sending;
  expect(server.messages).toHaveLength(before + 1);

  // A mail server that does not answer delays no request.
  const hanging = { ...world, sendMail: () => new Promise<never>(() => {}) };
  const { sending } = await requestPasswordLink(hanging, { email, clientAddress: "203.0.113.2" });
  expect(await Promise.race([sending.then(() => "sent"), Promise.resolve("answered")])).toBe("answered");
});

test("a person gets few emails, an address may ask only so often, and without SMTP there is none", async () => {
  const { email } = await createMember(world, tenant);
  const before = server.messages.length;
  for (let asked = 0; asked < 7; asked += 1) await mailTo(email);
  expect(server.messages).toHaveLength(before + 5);
  const ask = () => requestPasswordLink(world, { email: "x@nobody.test", clientAddress: "203.0.113.7" });
  for (let asked = 0; asked < 20; asked += 1) await (await ask()).sending;
  await expect(ask()).rejects.toMatchObject({ code: "rate_limited" });
  const silent = requestPasswordLink({ ...world, sendMail: null }, { email, clientAddress: "203.0.113.8" });
  await expect(silent).rejects.toMatchObject({ code: "not_found", message: /Ask an admin or owner/ });
});

test("a link expires, and any new password ends the other links", async () => {
  const person = await createMember(world, tenant);
  const late = await mailTo(person.email);
  world.clock.advance(3_600_000);
  expect(await call(use, { token: late, input: { password: NEW_PASSWORD } })).toMatchObject({ status: 404 });
  const one = await mailTo(person.email);
  const other = await mailTo(person.email);
  expect(await call(use, { token: one, input: { password: NEW_PASSWORD } })).toMatchObject({ status: 200 });
  expect(await call(use, { token: other, input: { password: TEST_PASSWORD } })).toMatchObject({
    status: 404,
  });
});

const useOf = (token: string) => call(use, { token, input: { password: NEW_PASSWORD } });

test("an admin makes a link only for a person whose one organization it is", async () => {
  const admin = await createMember(world, tenant, "admin");
  const person = await createMember(world, tenant);
  const first = await createMemberPasswordLink(world, admin, { userId: person.userId });
  const second = await createMemberPasswordLink(world, admin, { userId: person.userId });
  expect(await call(read, { token: first.token })).toMatchObject({ status: 404 });
  expect(await useOf(second.token)).toEqual({ status: 200, body: { email: person.email } });
  expect(await auditOf(person.userId)).toEqual([
    `member.password_link_created by user:${admin.userId} in its organization`,
    `member.password_link_created by user:${admin.userId} in its organization`,
    `member.password_reset by user:${person.userId} in its organization`,
  ]);

  const rejectionOf = (actor: MemberActor, userId: string) =>
    createMemberPasswordLink(world, actor, { userId }).then(
      () => null,
      (error: Error) => error.message,
    );
  const owner = await createMember(world, tenant, "owner");
  expect(await rejectionOf(admin, owner.userId)).toContain("Only an owner");
  expect(await rejectionOf(admin, admin.userId)).toContain("page Account");
  expect(await rejectionOf(person, admin.userId)).toContain("role admin");
  const operator = await createMember(world, tenant);
  await setOperator(world, { email: operator.email, isOperator: true });
  expect(await rejectionOf(owner, operator.userId)).toContain("is an operator of this installation");
  await joinAnother(person.userId);
  expect(await rejectionOf(admin, person.userId)).toContain("belongs to another organization");
});

test("an admin's link ends when the person gets more rights, or the admin may no longer make it", async () => {
  const owner = await createMember(world, tenant, "owner");
  const linkFor = async (
    change: (person: MemberActor & { email: string }, admin: MemberActor) => Promise<unknown>,
  ) => {
    const admin = await createMember(world, tenant, "admin");
    const person = await createMember(world, tenant);
    const { token } = await createMemberPasswordLink(world, admin, { userId: person.userId });
    await change(person, admin);
    return (await useOf(token)).status;
  };
  expect(await linkFor(async () => undefined)).toBe(200);
  expect(await linkFor(({ userId }) => joinAnother(userId))).toBe(404);
  expect(await linkFor(({ email }) => setOperator(world, { email, isOperator: true }))).toBe(404);
  expect(await linkFor((_, { userId }) => changeMemberRole(world, owner, { userId, role: "member" }))).toBe(
    404,
  );
  expect(await linkFor(({ userId }) => changeMemberRole(world, owner, { userId, role: "owner" }))).toBe(404);
});

test("a link used while the operator sets the password leaves one password", async () => {
  const person = await createMember(world, tenant);
  const { address: link } = await createOperatorPasswordLink(world, person.email);
  const set = setPasswordOf(world, { email: person.email, password: TEST_PASSWORD });
  await Promise.all([useOf(LINK.exec(link)?.[1] ?? ""), set]);
  expect(await world.db.account.count({ where: { userId: person.userId } })).toBe(1);
});

test("the operator makes a link for anyone, also without an organization", async () => {
  const person = await createMember(world, tenant);
  await joinAnother(person.userId);
  const { address: link } = await createOperatorPasswordLink(world, person.email);
  expect(await useOf(LINK.exec(link)?.[1] ?? "")).toMatchObject({ status: 200 });
  await world.db.member.deleteMany({ where: { userId: person.userId } });
  await createOperatorPasswordLink(world, person.email);
  expect((await auditOf(person.userId)).at(-1)).toBe("user.password_link_created by operator");
  await expect(createOperatorPasswordLink(world, "x@nobody.test")).rejects.toMatchObject({
    code: "not_found",
  });
});

async function joinAnother(userId: string): Promise<void> {
  const { orgId: organizationId } = await createTenant(world);
  const data = { id: newId(), organizationId, userId, role: "viewer" as const, createdAt: world.clock.now() };
  await world.db.member.create({ data });
}
