import { expect, it, vi } from "vitest";
import { AppError } from "@/server/base/errors";
import { createMember, insertRun } from "@/testing/runs";
import { signInCookie, TEST_ORIGIN } from "@/testing/sign-in";
import { createTenant, openWorld } from "@/testing/world";
import { GET } from "./route";

const world = await openWorld();
const tenant = await createTenant(world);
const cookie = await signInCookie(world, await createMember(world, tenant, "viewer"));
const runId = await insertRun(world, tenant, { status: "Pending", input: '"Order 4713"' });

const read = (field: string) =>
  GET(new Request(`${TEST_ORIGIN}/api/runs/${runId}/text?field=${field}`, { headers: { cookie } }), {
    params: Promise.resolve({ runId }),
  });

it("is 404 for a text that the run does not have, and not if it cannot be read now", async () => {
  vi.stubGlobal("stepwellServices", world);
  expect(await (await read("input")).text()).toBe('"Order 4713"');
  expect((await read("output")).status).toBe(404);
  const db = world.db.$extends({
    query: {
      run: {
        findFirst: () => {
          throw new AppError("internal_error", "The database does not answer.");
        },
      },
    },
  });
  vi.stubGlobal("stepwellServices", { ...world, db });
  expect((await read("input")).status).toBe(500);
});
