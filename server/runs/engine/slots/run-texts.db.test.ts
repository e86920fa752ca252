import { beforeEach, expect, it } from "vitest";
import { KIB, MIB } from "@/server/contract/sizes";
import { ProcessMemory } from "@/server/guard/limits/process-memory";
import { startEngine } from "@/testing/execute";
import { insertTool } from "@/testing/tools";
import {
  createTenant,
  createWorld,
  openWorld,
  scriptedModels,
  type Tenant,
  type World,
} from "@/testing/world";
import { cancelRun } from "../../cancel";
import { startRun } from "../../start";

const STEPS = 6;
const TEXT = "x".repeat(700 * KIB);
// An eighth is for texts: 8 MiB, of which one organization has at most 4 MiB.
const LIMIT = 64 * MIB;

let write: (message: string) => Promise<void> = async () => {};
const world = await openWorld({
  models: scriptedModels(async ({ messages }) => {
    await write(messages.map(({ content }) => content).join(" "));
    return { content: TEXT };
  }),
});
let process: World;
beforeEach(async () => {
  process = await createWorld({ beside: world, models: world.models });
  process.memory = new ProcessMemory({ limit: LIMIT, used: () => 0 });
  return async () => {
    await process.close();
    const open = await world.db.run.findMany({ where: { finishedAt: null, parentRunId: null } });
    for (const { id, organizationId } of open)
      await cancelRun(world, (await tenantOf(organizationId)).orgId, { runId: id, by: "a test" });
  };
});

const tenants: Tenant[] = [];
async function tenantOf(organizationId: string): Promise<Tenant> {
  const found = tenants.find(({ orgId }) => orgId === organizationId);
  if (found === undefined) throw new Error("no such tenant");
  return found;
}

async function createWriter(): Promise<{ tenant: Tenant; toolId: string }> {
  const tenant = await createTenant(world, { credits: "10000" });
  tenants.push(tenant);
  const steps = Array.from({ length: STEPS }, (_, index) => ({
    id: `text_${index}`,
    uses: "generate_text",
    with: { prompt: `write ${tenant.slug} ${index}` },
  }));
  return {
    tenant,
    toolId: await insertTool(world, tenant, { slug: "writer", definition: { steps, output: "done" } }),
  };
}

async function start({ tenant, toolId }: { tenant: Tenant; toolId: string }): Promise<string> {
  const actor = { kind: "operator", orgId: tenant.orgId, name: "test" } as const;
  return (await startRun(world, actor, { kind: "tool", targetId: toolId, input: {} })).runId;
}
const read = (id: string) => world.db.run.findUniqueOrThrow({ where: { id } });

it("lets large runs of an organization leave memory, and completes all of them without repeating a step", async () => {
  const written = new Map<string, number>();
  write = async (message) => void written.set(message, (written.get(message) ?? 0) + 1);
  const writer = await createWriter();
  const runs: string[] = [];
  for (let count = 0; count < 6; count += 1) runs.push(await start(writer));
  startEngine(process);
  for (const id of runs)
    await expect.poll(async () => (await read(id)).status, { timeout: 60_000 }).toBe("Completed");
  const yields = await Promise.all(runs.map(async (id) => (await read(id)).yieldedAt.length));
  expect(Math.max(...yields)).toBeGreaterThan(0);
  expect([...written.values()]).toEqual(Array.from({ length: STEPS }, () => runs.length));
});

it("executes small runs of others meanwhile", async () => {
  const open: (() => void)[] = [];
  const crowd = [await createWriter(), await createWriter(), await createWriter()];
  const slugs = crowd.map(({ tenant }) => tenant.slug);
  // The last text of each large run takes long.
  write = async (message) => {
    if (message.includes(` ${STEPS - 1}`) && slugs.some((slug) => message.includes(slug)))
      await new Promise<void>((resolve) => open.push(resolve));
  };
  for (const writer of crowd) for (let count = 0; count < 4; count += 1) await start(writer);
  startEngine(process);
  await expect.poll(() => open.length, { timeout: 60_000 }).toBeGreaterThanOrEqual(2);
  const other = await createTenant(world);
  tenants.push(other);
  const actor = { kind: "operator", orgId: other.orgId, name: "test" } as const;
  const small = await startRun(world, actor, { kind: "tool", targetId: other.toolId, input: { a: 1, b: 2 } });
  await expect.poll(async () => (await read(small.runId)).status, { timeout: 10_000 }).toBe("Completed");
  // 8 MiB hold two runs of 3.4 MiB beside the largest one.
  expect(open.length).toBeLessThanOrEqual(3);
  for (const release of open) release();
  write = async () => {};
});
