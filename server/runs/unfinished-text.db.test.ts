import { afterAll, beforeAll, expect, it } from "vitest";
import type { ModelReply, ModelRequest } from "@/server/models/port";
import { createMember } from "@/server/testing/runs";
import { createTenant, createWorld, quietModels, type Tenant, type World } from "@/server/testing/world";
import { cancelRun } from "./cancel";
import { executeRun } from "@/server/testing/execute";
import { inspectCall, inspectRun } from "./inspect";
import { startRun } from "./start";

/** What a model says is read while it says it. */

let play: (request: ModelRequest) => Partial<ModelReply> | Promise<Partial<ModelReply>>;
let world: World;
beforeAll(async () => {
  world = await createWorld({
    models: {
      ...quietModels,
      call: async (request) => ({ ...(await quietModels.call(request)), ...(await play(request)) }),
    },
  });
});
afterAll(() => world.close());

const remember: Remember = (_name, work) => work();

async function start(tenant: Tenant): Promise<string> {
  const actor = { kind: "operator", orgId: tenant.orgId, name: "test" } as const;
  return (await startRun(world, actor, { kind: "agent", targetId: tenant.agentId, userMessage: "Hi" })).runId;
}

it("shows a text as it grows, by events of the run, and in the end what was answered", async () => {
  const tenant = await createTenant(world);
  const viewer = await createMember(world, tenant, "viewer");
  const runId = await start(tenant);
  const read = async () => {
    const { run, calls } = await inspectRun(world, viewer, runId);
    const call = await inspectCall(world, viewer, { runId, callId: calls[0]?.id ?? "" });
    return { sequence: run.sequence, status: call.status, text: call.content.text };
  };
  play = async ({ onText }) => {
    const before = await read();
    expect(before).toMatchObject({ status: "Running", text: "" });
    onText?.("It");
    onText?.("It grows\u0000");
    await expect.poll(read).toMatchObject({ status: "Running", text: "It grows\uFFFD" });
    expect((await read()).sequence).toBeGreaterThan(before.sequence);
    onText?.("It grows and gr");
    return { content: "It grows and grew." };
  };
  await executeRun(world, runId);
  expect(await read()).toMatchObject({ status: "Completed", text: "It grows and grew." });
});

it("keeps what was said when the run is cancelled in the middle of it", async () => {
  const tenant = await createTenant(world);
  const viewer = await createMember(world, tenant, "viewer");
  const runId = await start(tenant);
  const text = async () => {
    const { calls } = await inspectRun(world, viewer, runId);
    return (await inspectCall(world, viewer, { runId, callId: calls[0]?.id ?? "" })).content.text;
  };
  play = async ({ onText, signal }) => {
    onText?.("Half a sen");
    await expect.poll(text).toBe("Half a sen");
    await cancelRun(world, tenant.orgId, runId, "Ada");
    await expect.poll(() => signal.aborted).toBe(true);
    throw signal.reason;
  };
  await executeRun(world, runId);
  expect((await inspectRun(world, viewer, runId)).run.status).toBe("Cancelled");
  expect(await text()).toBe("Half a sen");
});
