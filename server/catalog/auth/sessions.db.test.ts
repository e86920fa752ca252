import { describe, expect, it } from "vitest";
import { newId } from "@/server/base/ids";
import { setPassword } from "@/server/catalog/auth/accounts";
import { handleAuthRequest } from "@/server/catalog/auth/auth-requests";
import { switchOrganization } from "@/server/catalog/auth/own-account";
import { getAuth, isSameOrigin, isStillMember, sessionFromHeaders } from "@/server/catalog/auth/sessions";
import { startFromDashboard } from "@/server/runs/rerun";
import { createMember, TEST_PASSWORD } from "@/testing/runs";
import { createTenant, createWorld, openWorld } from "@/testing/world";

const ORIGIN = "http://stepwell.test";

const world = await openWorld();
const tenant = await createTenant(world);

const memberOf = async (headers: Headers) => (await sessionFromHeaders(world, headers))?.member ?? null;

let address = 0;
function post(
  path: string,
  body: object,
  headers: Record<string, string> = {},
  from = "",
): Promise<Response> {
  address += 1;
  return handleAuthRequest(
    world,
    new Request(`${ORIGIN}/api/auth${path}`, {
      method: "POST",
      headers: {
        "content-type": "application/json",
        origin: ORIGIN,
        host: "stepwell.test",
        ...headers,
      },
      body: JSON.stringify(body),
    }),
    from || `192.0.2.${address}`,
  );
}

async function signIn(email: string): Promise<Headers> {
  const response = await post("/sign-in/email", { email, password: TEST_PASSWORD });
  expect(response.status).toBe(200);
  const cookie = response.headers
    .getSetCookie()
    .map((each) => each.split(";")[0])
    .join("; ");
  return new Headers({ cookie });
}

describe("signing in", () => {
  it("sets a cookie that scripts cannot read", async () => {
    const { email, userId } = await createMember(world, tenant, "admin");
    const response = await post("/sign-in/email", { email, password: TEST_PASSWORD });
    const cookie = response.headers.getSetCookie().find((each) => each.includes("session_token"));
    expect(cookie).toMatch(/; HttpOnly/i);
    expect(cookie).toMatch(/; SameSite=Lax/i);
    expect(cookie).not.toMatch(/; Secure/i);
    const headers = new Headers({ cookie: cookie?.split(";")[0] ?? "" });
    expect(await memberOf(headers)).toMatchObject({
      kind: "member",
      orgId: tenant.orgId,
      userId,
      role: "admin",
    });
  });

  it("starts no run in an organization that is being removed, and waits for no lock", async () => {
    const removed = await createTenant(world);
    const { email } = await createMember(world, removed, "member");
    const headers = await signIn(email);
    const data = { suspendedAt: world.clock.now(), suspendedReason: "the organization is being removed" };
    await world.db.organization.update({ where: { id: removed.orgId }, data });
    const removal = await world.pool.connect();
    await removal.query("BEGIN");
    await removal.query("SELECT FROM organizations WHERE id = $1 FOR UPDATE", [removed.orgId]);
    const actor = await memberOf(headers);
    if (!actor) throw new Error("no member");
    const target = { kind: "agent", id: removed.agentId, input: "Hi" } as const;
    await expect(startFromDashboard(world, actor, target)).rejects.toMatchObject({
      code: "organization_suspended",
    });
    await removal.query("ROLLBACK");
    removal.release();
  });

  it("sends the cookie only over TLS if APP_URL is https", async () => {
    const secure = await createWorld({ env: { APP_URL: "https://stepwell.test" } });
    const { email } = await createMember(secure, await createTenant(secure));
    const response = await getAuth(secure).handler(
      new Request("https://stepwell.test/api/auth/sign-in/email", {
        method: "POST",
        headers: { "content-type": "application/json", origin: "https://stepwell.test" },
        body: JSON.stringify({ email, password: TEST_PASSWORD }),
      }),
    );
    expect(response.headers.getSetCookie().find((each) => each.includes("session_token"))).toMatch(
      /; Secure/i,
    );
    await secure.close();
  });

  it("gives the same answer for a wrong password and an unknown user", async () => {
    const { email } = await createMember(world, tenant);
    const wrong = await post("/sign-in/email", { email, password: "wrong-password" });
    const unknown = await post("/sign-in/email", {
      email: "nobody@stepwell.test",
      password: "wrong-password",
    });
    expect([wrong.status, unknown.status]).toEqual([401, 401]);
    expect(await wrong.text()).toBe(await unknown.text());
  });

  it("with the old password leaves no session if a new one is set meanwhile", async () => {
    const { email, userId } = await createMember(world, tenant);
    const sessions = () => world.db.session.count({ where: { userId } });
    let signingIn: Promise<Response> | undefined;
    await world.db.$transaction(async (tx) => {
      await setPassword(tx, { userId, password: "another-password", at: world.clock.now() });
      signingIn = post("/sign-in/email", { email, password: TEST_PASSWORD });
      await expect.poll(sessions).toBe(1);
    });
    const response = await signingIn;
    expect(response?.status).toBe(401);
    expect(response?.headers.getSetCookie()).toEqual([]);
    expect(await sessions()).toBe(0);
    expect((await post("/sign-in/email", { email, password: "another-password" })).status).toBe(200);
  });

  it("rejects sign-up", async () => {
    const response = await post("/sign-up/email", {
      email: "eve@stepwell.test",
      password: TEST_PASSWORD,
      name: "Eve",
    });
    expect(response.status).toBe(404);
    expect(await world.db.user.findUnique({ where: { email: "eve@stepwell.test" } })).toBeNull();
  });

  it("rejects a form of another site", async () => {
    const { email } = await createMember(world, tenant);
    const response = await post(
      "/sign-in/email",
      { email, password: TEST_PASSWORD },
      { origin: "https://evil.test" },
    );
    expect(response.status).toBe(403);
  });

  it("reads no more of a body than sign-in needs", async () => {
    let sent = 0;
    const body = new ReadableStream<Uint8Array>({
      pull(controller) {
        sent += 1;
        if (sent > 1_000) controller.close();
        else controller.enqueue(new Uint8Array(1024).fill(0x20));
      },
    });
    const init = { method: "POST", body, duplex: "half", headers: { origin: ORIGIN, host: "stepwell.test" } };
    const request = new Request(`${ORIGIN}/api/auth/sign-in/email`, init);
    expect((await handleAuthRequest(world, request, "192.0.2.200")).status).toBe(413);
    expect(sent).toBeLessThan(100);
  });

  it("ends the session at sign-out", async () => {
    const headers = await signIn((await createMember(world, tenant)).email);
    const response = await post("/sign-out", {}, { cookie: headers.get("cookie") ?? "" });
    expect(response.status).toBe(200);
    expect(await sessionFromHeaders(world, headers)).toBeNull();
  });
});

describe("a session", () => {
  const tokenOf = (headers: Headers) =>
    decodeURIComponent(/session_token=([^;]+)/.exec(headers.get("cookie") ?? "")?.[1] ?? "").split(".")[0] ??
    "";
  const stored = async (userId: string) =>
    (await world.db.session.findMany({ where: { userId } })).map(({ token }) => token);

  it("is stored as a hash of its token, which cannot be used", async () => {
    const { email, userId } = await createMember(world, tenant);
    const headers = await signIn(email);
    const [row, ...others] = await stored(userId);
    expect(others).toEqual([]);
    expect(row).toMatch(/^sha256:[\w-]{43}$/);
    expect(tokenOf(headers)).toHaveLength(32);
    expect(JSON.stringify(await world.db.session.findMany({ where: { userId } }))).not.toContain(
      tokenOf(headers),
    );
    const { internalAdapter } = await getAuth(world).$context;
    expect(await internalAdapter.findSession(tokenOf(headers))).not.toBeNull();
    expect(await internalAdapter.findSession(row ?? "")).toBeNull();
  });

  it("keeps its cookie when a visit extends it", async () => {
    const { email, userId } = await createMember(world, tenant);
    const headers = await signIn(email);
    const old = { expiresAt: new Date(Date.now() + 3_600_000) };
    await world.db.session.updateMany({ where: { userId }, data: old });
    const response = await getAuth(world).api.getSession({ headers, asResponse: true });
    expect(response.headers.getSetCookie().join()).toContain(tokenOf(headers));
    const [row] = await world.db.session.findMany({ where: { userId } });
    expect(row?.expiresAt.getTime()).toBeGreaterThan(old.expiresAt.getTime());
    expect(row?.token).toMatch(/^sha256:/);
  });

  it("is over for the next request after sign-out, however many lookups are under way", async () => {
    const headers = await signIn((await createMember(world, tenant)).email);
    const flood = Array.from({ length: 100 }, () => memberOf(headers));
    await post("/sign-out", {}, { cookie: headers.get("cookie") ?? "" });
    expect(await memberOf(headers)).toBeNull();
    await Promise.all(flood);
  });

  it("is listed without its token, and ends with all sessions of its user", async () => {
    const { email, userId } = await createMember(world, tenant);
    const [first, second] = [await signIn(email), await signIn(email)];
    const { api } = getAuth(world);
    const listed = await api.listSessions({ headers: first });
    expect(listed.map(({ token }) => token).sort()).toEqual((await stored(userId)).sort());
    await api.revokeSessions({ headers: first });
    expect(await stored(userId)).toEqual([]);
    expect(await memberOf(first)).toBeNull();
    expect(await memberOf(second)).toBeNull();
  });
});

describe("the active organization", () => {
  it("is the first one joined, unless another is chosen and its membership lasts", async () => {
    const second = await createTenant(world);
    const { email, userId, ...member } = await createMember(world, tenant, "owner");
    world.clock.advance(1_000);
    await world.db.member.create({
      data: {
        id: newId(),
        organizationId: second.orgId,
        userId,
        role: "viewer",
        createdAt: world.clock.now(),
      },
    });
    const [headers, elsewhere] = [await signIn(email), await signIn(email)];
    expect((await memberOf(headers))?.orgId).toBe(tenant.orgId);
    const sessionId = (await sessionFromHeaders(world, headers))?.user.sessionId;
    const holder = { actor: { ...member, userId }, sessionId };
    await switchOrganization(world, holder, { organizationId: second.orgId });
    expect(await memberOf(headers)).toMatchObject({ orgId: second.orgId, role: "viewer" });
    // A long response of the other organization goes on until its membership ends.
    const reader = { kind: "member", orgId: second.orgId, userId, name: "Ada", role: "viewer" } as const;
    expect(await isStillMember(world, elsewhere, reader)).toBe(true);
    expect(await isStillMember(world, elsewhere, { ...reader, role: "admin" })).toBe(false);
    // Other browsers stay where they are, and a new sign-in opens the first one joined.
    for (const other of [elsewhere, await signIn(email)]) {
      expect((await memberOf(other))?.orgId).toBe(tenant.orgId);
    }
    await world.db.member.deleteMany({ where: { userId, organizationId: second.orgId } });
    expect(await memberOf(headers)).toMatchObject({ orgId: tenant.orgId, role: "owner" });
    expect(await isStillMember(world, elsewhere, reader)).toBe(false);
  });

  it("is none for a user without a membership", async () => {
    const { email, userId } = await createMember(world, tenant);
    const headers = await signIn(email);
    await world.db.member.deleteMany({ where: { userId } });
    expect(await sessionFromHeaders(world, headers)).toMatchObject({ user: { email }, member: null });
    expect(await memberOf(headers)).toBeNull();
  });

  it("is none without a cookie or with a forged one", async () => {
    expect(await memberOf(new Headers())).toBeNull();
    expect(await memberOf(new Headers({ cookie: "stepwell.session_token=forged.forged" }))).toBeNull();
  });
});

describe("a state-changing request", () => {
  it.each([
    [{ "sec-fetch-site": "same-origin" }, true],
    [{ "sec-fetch-site": "cross-site", origin: ORIGIN }, false],
    [{ "sec-fetch-site": "same-site" }, false],
    [{ origin: ORIGIN }, true],
    [{ origin: "http://127.0.0.1:3000", host: "127.0.0.1:3000" }, true],
    [{ origin: "https://evil.test", host: "stepwell.test" }, false],
    [{}, false],
  ])("with %j is accepted: %s", (headers, believed) => {
    expect(isSameOrigin(world, new Headers(headers as Record<string, string>))).toBe(believed);
  });
});
