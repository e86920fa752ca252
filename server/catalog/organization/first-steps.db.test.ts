import { expect, test } from "vitest";
import { createMember, insertRun } from "@/testing/runs";
import { createTenant, openWorld } from "@/testing/world";
import { readFirstSteps } from "./first-steps";
import { saveModelProvider } from "./model-providers";

const world = await openWorld();

test("each step is a fact: a provider, an active agent, a completed run", async () => {
  const tenant = await createTenant(world, { agent: { status: "inactive" } });
  const actor = await createMember(world, tenant, "viewer");
  const read = () => readFirstSteps(world, actor);
  expect(await read()).toEqual({ providers: [], agent: null, lastRun: null, completed: false });
  const admin = await createMember(world, tenant, "admin");
  const own = { name: "own", baseUrl: "https://own.test/v1", models: ["own/large"] };
  await saveModelProvider(world, admin, { ...own, replaces: null });
  expect((await read()).providers).toEqual(["own"]);
  await world.db.agent.updateMany({ where: { id: tenant.agentId }, data: { status: "active" } });
  expect((await read()).agent).toEqual({ id: tenant.agentId, name: "Helper", maxCredits: null });
  const failed = await insertRun(world, tenant, { status: "Failed" });
  expect(await read()).toMatchObject({ lastRun: { id: failed, status: "Failed" }, completed: false });
  await insertRun(world, tenant, {});
  expect((await read()).completed).toBe(true);
});

test("many runs need no first steps, also when none has completed", async () => {
  const tenant = await createTenant(world);
  const actor = await createMember(world, tenant, "viewer");
  for (let n = 0; n < 20; n += 1) await insertRun(world, tenant, { status: "Failed" });
  expect((await readFirstSteps(world, actor)).completed).toBe(true);
});
