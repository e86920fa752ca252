import { afterAll, beforeAll, expect, it } from "vitest";
import { ModelError, type ModelReply, type ModelRequest } from "@/server/models/port";
import { createMember } from "@/server/testing/runs";
import { createTenant, createWorld, quietModels, type Tenant, type World } from "@/server/testing/world";
import { executeRun } from "@/server/testing/execute";
import { inspectCall, inspectRun, inspectStep } from "./inspect";
import { startRun } from "./start";

/** What rows tell of tries: while another one is waited for, and after the worker of one went away. */

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

/** Starts a run of a tool that asks the model once, with one more try. */
async function start(tenant: Tenant): Promise<string> {
  const definition = {
    parameters: { type: "object" },
    steps: [{ id: "one", uses: "generate_text", with: { prompt: "one" }, retries: 1 }],
    output: "{{ steps.one }}",
  };
  await world.db.toolVersion.updateMany({
    where: { toolId: tenant.toolId },
    data: { definition: JSON.stringify(definition) },
  });
  const actor = { kind: "operator", orgId: tenant.orgId, name: "test" } as const;
  return (await startRun(world, actor, { kind: "tool", targetId: tenant.toolId, input: {} })).runId;
}

it("shows a try that failed while the next one goes on, and says when that began", async () => {
  const tenant = await createTenant(world);
  const viewer = await createMember(world, tenant, "viewer");
  const runId = await start(tenant);
  const seen: unknown[] = [];
  play = async () => {
    const { steps } = await inspectRun(world, viewer, runId);
    seen.push(steps.map(({ status, attempts }) => ({ status, attempts })));
    if (seen.length > 1) return { content: "done" };
    world.clock.advance(40);
    throw new ModelError(`Overloaded. ${"x".repeat(300)}`, { reason: "unavailable", attempts: [] });
  };
  const begun = world.clock.now().getTime();
  await executeRun(world, runId);
  const moment = (ms: number) => new Date(begun + ms).toISOString();
  const failed = { startedAt: moment(0), durationMs: 40, retryAt: moment(540) };
  expect(seen).toEqual([
    [{ status: "Running", attempts: [] }],
    [{ status: "Running", attempts: [{ ...failed, error: expect.stringMatching(/^Overloaded\. x{188}$/) }] }],
  ]);
  const { steps } = await inspectRun(world, viewer, runId);
  expect(steps[0]).toMatchObject({ status: "Completed", attempts: [failed, { error: null }] });
  const whole = await inspectStep(world, viewer, { runId, stepId: steps[0]?.id ?? "" });
  expect(whole.attempts[0]?.error).toHaveLength(312);
});

it("shows the tries of a model call while the provider is waited for", async () => {
  const tenant = await createTenant(world);
  const viewer = await createMember(world, tenant, "viewer");
  const runId = await start(tenant);
  const attempt = { startedAt: world.clock.now().toISOString(), durationMs: 7, error: "busy" };
  const waiting = { ...attempt, retryAt: world.clock.now().toISOString() };
  play = async ({ onRetry }) => {
    await onRetry?.([waiting]);
    const { calls } = await inspectRun(world, viewer, runId);
    expect(calls).toMatchObject([{ status: "Running", attempts: [waiting] }]);
    return { content: "done", attempts: [waiting, { ...attempt, error: null }] };
  };
  await executeRun(world, runId);
  const { run, calls } = await inspectRun(world, viewer, runId);
  expect(run.status).toBe("Completed");
  expect(calls).toMatchObject([{ status: "Completed", attempts: [waiting, { error: null }] }]);
});

it("tells of the try whose worker went away, and keeps the moment at which the step began", async () => {
  const tenant = await createTenant(world);
  const viewer = await createMember(world, tenant, "viewer");
  const runId = await start(tenant);
  const begun = world.clock.now();
  let asked = 0;
  play = async () => {
    asked += 1;
    if (asked > 1) return { content: "done by the second" };
    world.clock.advance(30_001);
    await executeRun(world, runId, remember, "second");
    return { content: "done by the first" };
  };
  await expect(executeRun(world, runId, remember, "first")).rejects.toThrow("no longer this worker's");
  const { run, steps, calls } = await inspectRun(world, viewer, runId);
  expect(run.output?.text).toBe('"done by the second"');
  const interrupted = {
    startedAt: begun.toISOString(),
    durationMs: 30_001,
    error: expect.stringMatching(/^Interrupted: /),
  };
  expect(steps).toMatchObject([
    { status: "Completed", startedAt: begun.toISOString(), attempts: [interrupted, { error: null }] },
  ]);
  const call = await inspectCall(world, viewer, { runId, callId: calls[0]?.id ?? "" });
  expect(call.attempts).toMatchObject([interrupted]);
});
