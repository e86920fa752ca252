import { expect, it, vi } from "vitest";
import { handleRest } from "@/server/api/rest";
import { revokeApiKey } from "@/server/catalog/organization/api-keys";
import { statementName } from "@/testing/process";
import { createTenant, openWorld, type World } from "@/testing/world";

const world = await openWorld();
const beside = await openWorld({ beside: world });

it("a revocation in one process applies to the next call in every other", async () => {
  const tenant = await createTenant(world);
  const call = async (process: World) => {
    const url = `http://stepwell.test/v1/tools/run/${tenant.apiKeyId}/status`;
    const answer = await handleRest(process, new Request(url, { headers: { "X-API-Key": tenant.key } }));
    return (await answer.json()).code;
  };
  // Both processes have cached the key.
  for (const process of [world, beside, world, beside]) expect(await call(process)).toBe("not_found");
  const actor = { kind: "operator", orgId: tenant.orgId, name: "test" } as const;
  await revokeApiKey(world, actor, { id: tenant.apiKeyId });
  expect(await Promise.all([call(beside), call(world)])).toEqual(["unauthenticated", "unauthenticated"]);
});

it("a key expires on time, and its last use is recorded once a minute", async () => {
  const tenant = await createTenant(world);
  const { apiKeyId: id, key } = tenant;
  const query = vi.spyOn(world.pool, "query");
  const call = async () => {
    const url = `http://stepwell.test/v1/tools/run/${id}/status`;
    return (await handleRest(world, new Request(url, { headers: { "X-API-Key": key } }))).status;
  };
  const notes = () =>
    query.mock.calls.filter((call: unknown[]) => statementName(call) === "record-api-key-use").length;
  const lastUse = async () =>
    (await world.db.apiKey.findUniqueOrThrow({ where: { id } })).lastUsedAt?.getTime();
  expect(await call()).toBe(404);
  await expect.poll(lastUse).toBe(world.clock.now().getTime());
  // Two until the cache has the key: a call is authorized once more when its body has come.
  const first = notes();
  expect([1, 2]).toContain(first);
  world.clock.advance(60_000);
  expect(await call()).toBe(404);
  expect(notes()).toBe(first);
  world.clock.advance(1);
  expect(await call()).toBe(404);
  expect(notes()).toBe(first + 1);
  await expect.poll(lastUse).toBe(world.clock.now().getTime());

  const expiresAt = new Date(world.clock.now().getTime() + 1);
  await world.db.apiKey.update({ where: { id }, data: { expiresAt } });
  expect(await call()).toBe(404);
  world.clock.advance(1);
  expect(await call()).toBe(401);
});
