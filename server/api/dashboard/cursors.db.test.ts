import { expect, test } from "vitest";
import { createDashboardCaller } from "@/server/api/dashboard/router";
import { newId } from "@/server/base/ids";
import { createMember } from "@/testing/runs";
import { createTenant, openWorld } from "@/testing/world";

const world = await openWorld();
const actor = await createMember(world, await createTenant(world));
const api = createDashboardCaller({ services: world, actor, requestId: "test" });

test.each([2 ** 31, Number.MAX_SAFE_INTEGER])("a cursor of %i is rejected as invalid", async (cursor) => {
  const definition = { kind: "agent", id: newId() } as const;
  const calls = [
    api.definitions.versions({ ...definition, cursor }),
    api.definitions.changes({ ...definition, number: cursor }),
  ];
  for (const call of calls) await expect(call).rejects.toMatchObject({ code: "BAD_REQUEST" });
});
