import { expect, it } from "vitest";
import { Decimal } from "@/server/base/amount";
import { cancelRun } from "@/server/runs/cancel";
import { inspectRun } from "@/server/runs/read/inspect/inspect";
import { inspectCall } from "@/server/runs/read/inspect/inspect-line";
import { startRun } from "@/server/runs/start";
import { ModelCallStopped, type ModelReply, type ModelRequest } from "@/server/work/models/port";
import { executeRun } from "@/testing/execute";
import { expectSoundLedger } from "@/testing/ledger";
import { createMember } from "@/testing/runs";
import { insertTool } from "@/testing/tools";
import { createTenant, openWorld, scriptedModels, type Tenant } from "@/testing/world";

let play: (request: ModelRequest) => Partial<ModelReply> | Promise<Partial<ModelReply>>;
const world = await openWorld({
  models: scriptedModels((request) => play(request)),
});

async function start(tenant: Tenant): Promise<string> {
  const actor = { kind: "operator", orgId: tenant.orgId, name: "test" } as const;
  return (await startRun(world, actor, { kind: "agent", targetId: tenant.agentId, userMessage: "Hi" })).runId;
}

it("shows output as it grows, stamps each change with a sequence, and shows the reply in the end", async () => {
  const tenant = await createTenant(world);
  const viewer = await createMember(world, tenant, "viewer");
  const runId = await start(tenant);
  const read = async () => {
    const { run, calls } = await inspectRun(world, viewer, { runId });
    if (calls[0] === undefined) return null;
    const call = await inspectCall(world, viewer, { runId, callId: calls[0].id });
    return { sequence: run.sequence, status: call.status, text: call.content.text };
  };
  play = async ({ onText }) => {
    // A call that has just started is not written yet.
    await expect.poll(read).toMatchObject({ status: "Running", text: "" });
    const before = await read();
    onText?.(() => "It");
    onText?.(() => "It grows\u0000");
    await expect.poll(read).toMatchObject({ status: "Running", text: "It grows\uFFFD" });
    expect((await read())?.sequence).toBeGreaterThan(before?.sequence ?? 0);
    onText?.(() => "It grows and gr");
    return { content: "It grows and grew." };
  };
  await executeRun(world, runId);
  expect(await read()).toMatchObject({ status: "Completed", text: "It grows and grew." });
});

it("keeps partial output when the run is cancelled while the model answers", async () => {
  const tenant = await createTenant(world);
  const viewer = await createMember(world, tenant, "viewer");
  const runId = await start(tenant);
  const text = async () => {
    const { calls } = await inspectRun(world, viewer, { runId });
    if (calls[0] === undefined) return null;
    return (await inspectCall(world, viewer, { runId, callId: calls[0].id })).content.text;
  };
  play = async ({ onText, signal }) => {
    onText?.(() => "Half a sen");
    await expect.poll(text).toBe("Half a sen");
    await cancelRun(world, tenant.orgId, { runId, by: "Ada" });
    await expect.poll(() => signal.aborted).toBe(true);
    throw signal.reason;
  };
  await executeRun(world, runId);
  const { run, calls } = await inspectRun(world, viewer, { runId });
  expect(run.status).toBe("Cancelled");
  // Not a failure: the cancel interrupted it.
  expect(calls).toMatchObject([{ status: "Failed", interrupted: true }]);
  expect(await text()).toBe("Half a sen");
});

it.each([
  ["its step's time limit", 50, { status: "Failed", errorCode: "step_failed" }],
  ["a cancel", 60_000, { status: "Cancelled" }],
])("charges partial output that a step received before %s stopped it", async (_name, timeoutMs, end) => {
  const tenant = await createTenant(world);
  const steps = [{ id: "text", uses: "generate_text", with: { prompt: "write" }, timeoutMs }];
  const targetId = await insertTool(world, tenant, { slug: "writer", definition: { steps } });
  const actor = { kind: "operator", orgId: tenant.orgId, name: "test" } as const;
  const { runId } = await startRun(world, actor, { kind: "tool", targetId, input: {} });
  play = async ({ signal }) => {
    if (end.status === "Cancelled") await cancelRun(world, tenant.orgId, { runId, by: "Ada" });
    await expect.poll(() => signal.aborted).toBe(true);
    // As long as it takes to count the tokens.
    for (let query = 0; query < 20; query += 1) await world.pool.query("SELECT");
    const received = {
      content: "Half a sen",
      usage: { inputTokens: 10, outputTokens: 100, estimated: true },
    };
    throw new ModelCallStopped({ attempts: [], received, cause: signal.reason });
  };
  await executeRun(world, runId);
  const run = await world.db.run.findUniqueOrThrow({
    where: { id: runId },
    include: { modelCalls: true, steps: true },
  });
  expect(run).toMatchObject({ ...end, inputTokens: 10, outputTokens: 100 });
  expect(run.modelCalls).toMatchObject([{ status: "Failed", content: "Half a sen", outputTokens: 100 }]);
  const credits = [...run.modelCalls, ...run.steps].map((row) => row.credits.toString());
  expect(Decimal.sum(...credits).toString()).toBe(run.creditsUsed.toString());
  expect(run.creditsUsed.isZero()).toBe(false);
  await expectSoundLedger(world, tenant);
});
