import { expect, it } from "vitest";
import type { KeyScope } from "@/server/base/actor";
import { newId } from "@/server/base/ids";
import { newApiKey } from "@/server/catalog/auth/api-key";
import { insertRun } from "@/testing/runs";
import { createTenant, openWorld, type Tenant } from "@/testing/world";
import { handleRest } from "../rest";

const world = await openWorld();
const tenant = await createTenant(world);
const stranger = await createTenant(world);

async function createKey(
  { orgId }: Tenant,
  { scopes = ["runs:list"], targetIds = [] }: { scopes?: KeyScope[]; targetIds?: string[] } = {},
): Promise<string> {
  const { key, prefix, hash } = newApiKey();
  const row = { id: newId(), organizationId: orgId, name: "lists", prefix, hash: new Uint8Array(hash) };
  const data = { ...row, scopes, targetIds, createdBy: "operator", createdAt: world.clock.now() };
  await world.db.apiKey.create({ data });
  return key;
}

async function list(query: string, key: string) {
  const request = new Request(`http://stepwell.test/v1/runs${query}`, { headers: { "X-API-Key": key } });
  const response = await handleRest(world, request);
  return { status: response.status, headers: response.headers, body: await response.json() };
}
const idsOf = (answer: Awaited<ReturnType<typeof list>>) =>
  answer.body.data.map(({ id }: { id: string }) => id);

const key = await createKey(tenant);
const done = await insertRun(world, tenant, {
  kind: "agent",
  credits: "0.0612",
  tokens: 412,
  input: "secret in",
});
const failed = await insertRun(world, tenant, { status: "Failed", error: "secret error" });
const child = await insertRun(world, tenant, { source: "run", parentRunId: done });
const open = await insertRun(world, tenant, { status: "Pending" });
await insertRun(world, stranger);

it("lists the organization's root runs, newest first, without input and output", async () => {
  const answer = await list("", key);
  expect(answer.status).toBe(200);
  expect(answer.headers.get("ratelimit-policy")).toBe('"reads";q=600;w=60');
  expect(idsOf(answer)).toEqual([open, failed, done]);
  expect(answer.body.data.at(-1)).toEqual({
    id: done,
    kind: "agent",
    targetId: tenant.agentId,
    targetName: expect.any(String),
    status: "Completed",
    source: "operator",
    stepsExecuted: 0,
    tokensUsed: 412,
    creditsUsed: "0.0612",
    createdAt: expect.any(String),
    startedAt: expect.any(String),
    finishedAt: expect.any(String),
  });
  expect(answer.body).toMatchObject({
    nextCursor: null,
    applied: { status: null, children: false, limit: 50 },
  });
  expect(JSON.stringify(answer.body)).not.toContain("secret");
});

it("filters by status and includes child runs on request", async () => {
  expect(idsOf(await list("?status=Failed", key))).toEqual([failed]);
  expect(idsOf(await list("?status=Pending", key))).toEqual([open]);
  expect(idsOf(await list("?status=Completed&children=true", key))).toEqual([child, done]);
  expect(idsOf(await list("?children=true", key))).toEqual([open, child, failed, done]);
  expect((await list("?status=Failed&limit=7", key)).body.applied).toEqual({
    status: "Failed",
    children: false,
    limit: 7,
  });
});

it("continues a page after the cursor, whatever runs started since", async () => {
  const first = await list("?limit=2", key);
  expect(idsOf(first)).toEqual([open, failed]);
  const since = await insertRun(world, tenant);
  const second = await list(`?limit=2&cursor=${first.body.nextCursor}`, key);
  expect(idsOf(second)).toEqual([done]);
  expect(second.body.nextCursor).toBeNull();
  await world.db.run.delete({ where: { id: since } });
});

it("shows a limited key only runs of its targets, and each key only its organization", async () => {
  const limited = await createKey(tenant, { targetIds: [tenant.agentId] });
  for (const query of ["", "?children=true", "?status=Completed", "?status=Completed&children=true"]) {
    expect([query, idsOf(await list(query, limited))]).toEqual([query, [done]]);
  }
  expect(idsOf(await list("?status=Pending", limited))).toEqual([]);
  const nowhere = await createKey(tenant, { targetIds: [newId()] });
  expect(idsOf(await list("?children=true", nowhere))).toEqual([]);
  const other = idsOf(await list("?children=true", await createKey(stranger)));
  expect(other).toHaveLength(1);
  expect([done, failed, child, open]).not.toContain(other[0]);
});

it.each([
  ["?limit=0", "/limit"],
  ["?limit=201", "/limit"],
  ["?limit=1e1", "/limit"],
  ["?limit=", "/limit"],
  ["?status=completed", "/status"],
  ["?children=1", "/children"],
  ["?cursor=x", "/cursor"],
])("400 for %s", async (query, path) => {
  const { status, body } = await list(query, key);
  expect({ status, code: body.code, path: body.issues?.[0]?.path }).toEqual({
    status: 400,
    code: "invalid_request",
    path,
  });
});

it("400 for an unknown and a repeated parameter, which the message names", async () => {
  const unknown = await list("?statuss=Failed", key);
  expect(unknown.status).toBe(400);
  expect(unknown.body.message).toBe(
    "The query parameter statuss is unknown. It takes status, children, limit, cursor.",
  );
  const twice = await list("?status=Failed&status=Completed", key);
  expect(twice.status).toBe(400);
  expect(twice.body.message).toBe("The query parameter status is given twice.");
});

it("checks the key and its scope before the query; keys get the scope only by name", async () => {
  expect((await list("?limit=0", "sw_live_nope")).status).toBe(401);
  const both = await createKey(tenant, { scopes: ["runs:read", "runs:start"] });
  expect((await list("?limit=0", both)).status).toBe(403);
  // The default of keys in a definition file.
  expect((await list("", tenant.key)).status).toBe(403);
});
