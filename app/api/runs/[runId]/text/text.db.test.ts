import { expect, it, vi } from "vitest";
import { AppError } from "@/server/base/errors";
import { MIB } from "@/server/contract/sizes";
import { ProcessMemory } from "@/server/guard/limits/process-memory";
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

it("counts for its organization until its reader has taken it", async () => {
  // 4 MiB are for unread texts, half of them for one organization.
  const memory = new ProcessMemory({ limit: 32 * MIB, used: () => 0 });
  vi.stubGlobal("stepwellServices", { ...world, memory });
  const input = JSON.stringify(`x${"\u{1f600}".repeat(300_000)}`);
  await world.db.run.update({ where: { id: runId }, data: { input } });
  const unread = await read("input");
  expect((await read("input")).status).toBe(429);
  expect(await unread.text()).toBe(input);
  const left = await read("input");
  expect(left.status).toBe(200);
  await left.body?.cancel();
  expect((await read("input")).status).toBe(200);
});
