import { expect, test, vi } from "vitest";
import { createLink } from "@/server/catalog/auth/one-time-links";
import { createOrganization } from "@/server/catalog/organization/create-organization";
import { listOperators } from "@/server/catalog/organization/operators";
import { operatorOf } from "@/server/catalog/organization/organizations";
import { offerSetUp } from "@/server/catalog/organization/set-up";
import { removeOrganization } from "@/server/operate/remove-organization";
import { TEST_PASSWORD } from "@/testing/runs";
import { signInCookie, TEST_ORIGIN } from "@/testing/sign-in";
import { createWorld } from "@/testing/world";
import { POST as read } from "./read/route";
import { POST as use } from "./use/route";

const world = await createWorld();
vi.stubGlobal("stepwellServices", world);

let address = 0;
async function call(route: (request: Request) => Promise<Response>, sent: unknown, origin = TEST_ORIGIN) {
  address += 1;
  const headers = {
    "content-type": "application/json",
    origin,
    host: "stepwell.test",
    "x-stepwell-peer": `192.0.2.${address}`,
  };
  const url = `${TEST_ORIGIN}/api/set-up`;
  const response = await route(new Request(url, { method: "POST", headers, body: JSON.stringify(sent) }));
  return { status: response.status, body: await response.json() };
}

async function offer(): Promise<string> {
  const link = await offerSetUp(world);
  const [, token = ""] = /^http:\/\/stepwell\.test\/set-up#([\w-]{64})$/.exec(link ?? "") ?? [];
  return token;
}

const input = {
  organization: "Acme & Söhne",
  credits: "250",
  name: "Ada",
  email: "Ada@acme.test",
  password: TEST_PASSWORD,
};

test("the first start's link creates the first organization and its owner, once", async () => {
  const token = await offer();
  const other = await offer();
  const { rows } = await world.pool.query("SELECT * FROM one_time_links");
  expect(JSON.stringify(rows)).not.toContain(token.slice(-20));
  expect(await call(read, { token })).toEqual({ status: 200, body: {} });

  const weak = { organization: "", credits: "-1", name: "", email: "x", password: "short" };
  const rejected = await call(use, { token, input: weak });
  const paths = rejected.body.issues.map((issue: { path: string }) => issue.path);
  expect([rejected.status, ...paths]).toEqual([
    400,
    "/organization",
    "/credits",
    "/name",
    "/email",
    "/password",
  ]);
  expect(await call(use, { token, input }, "https://evil.test")).toMatchObject({ status: 403 });

  // Both links at once: one organization.
  const answers = await Promise.all([token, other].map((each) => call(use, { token: each, input })));
  expect(answers.map(({ status }) => status).sort()).toEqual([200, 404]);
  const done = answers.find(({ status }) => status === 200);
  expect(done?.body).toEqual({ email: "ada@acme.test", slug: "acme-sohne" });
  const found = await world.db.organization.findMany({ include: { members: true, plan: true } });
  expect(found).toMatchObject([
    { slug: "acme-sohne", name: "Acme & Söhne", members: [{ role: "owner" }], plan: { apiAccess: true } },
  ]);
  expect(found[0]?.balance.toFixed()).toBe("250");
  expect(await signInCookie(world, { email: "ada@acme.test" })).toContain("session");
  const audit = await world.db.auditEntry.findMany({ orderBy: { id: "asc" } });
  expect(audit.map(({ action, actorName }) => `${action} by ${actorName}`)).toEqual([
    "organization.created by set-up link",
    "member.created by set-up link",
    "user.operator_added by set-up link",
  ]);
  // It is the operator's own account.
  expect(await listOperators(world)).toMatchObject([{ email: "ada@acme.test" }]);

  expect(await offerSetUp(world)).toBeNull();
  expect(await world.db.oneTimeLink.count()).toBe(0);
  expect(await call(use, { token: other, input })).toMatchObject({
    status: 404,
    body: { code: "not_found" },
  });
});

test("a link ends with its day, and when an organization is made in another way", async () => {
  await removeOrganization(world, await operatorOf(world, "acme-sohne"), { force: true });
  const late = await offer();
  world.clock.advance(24 * 3_600_000);
  expect(await call(read, { token: late })).toMatchObject({ status: 404 });

  const taken = await offer();
  const known = await call(use, { token: taken, input });
  expect(known).toMatchObject({ status: 400, body: { issues: [{ path: "/email" }] } });
  expect(await call(read, { token: taken })).toMatchObject({ status: 200 });
  await createOrganization(world, {
    definition: { slug: "other", plan: {} },
    owner: { email: "ada@acme.test" },
  });
  expect(await call(use, { token: taken, input })).toMatchObject({ status: 404 });
});

test("tokens of another purpose, changed ones and guesses are rejected, and guesses are limited", async () => {
  const at = world.clock.now();
  const { token } = await createLink(world.db, { purpose: "password" }, { at, validMs: 60_000 });
  for (const wrong of [token, `${token.slice(0, -1)}A`, `${token}A`, "x", "%", "é".repeat(64)]) {
    expect(await call(read, { token: wrong })).toMatchObject({ status: 404, body: { code: "not_found" } });
  }
  for (const sent of [{}, { token: "" }, { token: "x".repeat(101) }]) {
    expect(await call(read, sent)).toMatchObject({ status: 400 });
  }
  const headers = {
    "content-type": "application/json",
    origin: TEST_ORIGIN,
    host: "stepwell.test",
    "x-stepwell-peer": "198.51.100.9",
  };
  const guess = () =>
    read(new Request(`${TEST_ORIGIN}/api/set-up/read`, { method: "POST", headers, body: '{"token":"x"}' }));
  const statuses = [];
  for (let guesses = 0; guesses < 61; guesses += 1) statuses.push((await guess()).status);
  expect(statuses.filter((status) => status === 404)).toHaveLength(60);
  expect(statuses.at(-1)).toBe(429);
  await world.close();
});
