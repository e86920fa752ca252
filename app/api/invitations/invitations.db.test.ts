import { expect, test, vi } from "vitest";
import { newId } from "@/server/base/ids";
import { createInvitation } from "@/server/catalog/organization/invitations";
import { createMember, TEST_PASSWORD } from "@/testing/runs";
import { signInCookie, TEST_ORIGIN } from "@/testing/sign-in";
import { createTenant, openWorld } from "@/testing/world";
import { POST as accept } from "./accept/route";
import { POST as read } from "./read/route";

const world = await openWorld();
vi.stubGlobal("stepwellServices", world);
const tenant = await createTenant(world);

let address = 0;
const account = { name: "New Person", password: TEST_PASSWORD };
async function invite(email = `${newId()}@invited.test`) {
  const owner = await createMember(world, tenant, "owner");
  return createInvitation(world, owner, { email, role: "viewer" });
}
async function call(
  route: (request: Request) => Promise<Response>,
  sent: unknown,
  headers: Record<string, string> = {},
) {
  address += 1;
  const request = new Request(`${TEST_ORIGIN}/api/invitations`, {
    method: "POST",
    headers: {
      "content-type": "application/json",
      origin: TEST_ORIGIN,
      host: "stepwell.test",
      "x-stepwell-peer": `192.0.2.${address}`,
      ...headers,
    },
    body: typeof sent === "string" ? sent : JSON.stringify(sent),
  });
  const response = await route(request);
  return { status: response.status, body: await response.json() };
}

test("a stranger reads an invitation by its token and accepts it", async () => {
  const { token, email } = await invite();
  expect(await call(read, { token })).toMatchObject({ status: 200, body: { email, hasAccount: false } });
  expect(await call(accept, { token, account })).toMatchObject({ status: 200, body: { email } });
  expect(await call(read, { token })).toMatchObject({ status: 404, body: { code: "not_found" } });
});

test("an existing account needs its own session", async () => {
  const person = await createMember(world, await createTenant(world));
  const { token } = await invite(person.email);
  expect(await call(accept, { token, account })).toMatchObject({ status: 401 });
  const other = await signInCookie(world, await createMember(world, tenant));
  expect(await call(accept, { token, account }, { cookie: other })).toMatchObject({ status: 401 });
  const cookie = await signInCookie(world, person);
  expect(await call(accept, { token }, { cookie })).toMatchObject({ status: 200 });
});

test("other sites, other bodies and guessing are rejected", async () => {
  const { token } = await invite();
  for (const route of [read, accept]) {
    expect(await call(route, { token, account }, { origin: "https://evil.test" })).toMatchObject({
      status: 403,
    });
    expect(await call(route, { token, account }, { "content-type": "text/plain" })).toMatchObject({
      status: 403,
    });
    for (const sent of ["{", {}, { token: "" }, { token: "x".repeat(101) }]) {
      expect(await call(route, sent)).toMatchObject({ status: 400 });
    }
    expect(await call(route, `{"token":"${"x".repeat(20_000)}"}`)).toMatchObject({ status: 413 });
    expect(await call(route, { token: `${token}x`, account })).toMatchObject({ status: 404 });
  }
  const weak = { name: "", password: "short" };
  expect(await call(accept, { token, account: weak })).toMatchObject({
    status: 400,
    body: { issues: [{ path: "/name" }, { path: "/password" }] },
  });
  const peer = { "x-stepwell-peer": "198.51.100.7" };
  for (let n = 0; n < 60; n += 1) await call(read, { token: "wrong" }, peer);
  expect(await call(read, { token }, peer)).toMatchObject({ status: 429, body: { code: "rate_limited" } });
});
