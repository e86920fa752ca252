import { afterAll, beforeAll, expect, test } from "vitest";
import { createDashboardCaller } from "@/server/api/dashboard/router";
import { newId } from "@/server/ids";
import { createMember } from "@/testing/runs";
import { createTenant, createWorld, type World } from "@/testing/world";

/** Numbers that fit no column are the caller's fault, not the service's. */

let world: World;
let api: ReturnType<typeof createDashboardCaller>;
beforeAll(async () => {
  world = await createWorld();
  const actor = await createMember(world, await createTenant(world));
  api = createDashboardCaller({ services: world, actor, requestId: "test" });
});
afterAll(() => world.close());

test.each([2 ** 31, Number.MAX_SAFE_INTEGER])("a cursor of %i is refused as invalid", async (cursor) => {
  const definition = { kind: "agent", id: newId() } as const;
  const calls = [
    api.credits.ledger({ cursor }),
    api.definitions.versions({ ...definition, cursor }),
    api.definitions.changes({ ...definition, number: cursor }),
  ];
  for (const call of calls) await expect(call).rejects.toMatchObject({ code: "BAD_REQUEST" });
  expect((await api.credits.ledger({ cursor: 2 ** 31 - 1 })).items).toEqual(expect.any(Array));
});
