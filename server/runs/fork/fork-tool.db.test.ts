import { afterAll, expect, it } from "vitest";
import type { JsonObject } from "@/server/base/json/json";
import { executeRun } from "@/testing/execute";
import { expectSoundLedger } from "@/testing/ledger";
import { createMember } from "@/testing/runs";
import { openScriptedServer } from "@/testing/servers/scripted-server";
import { insertTool } from "@/testing/tools";
import { createTenant, createWorld, openWorld, type Tenant } from "@/testing/world";
import { wakeRuns } from "../engine/run-state";
import { startRun } from "../start";
import type { ForkRequest } from "./changes";
import { estimateFork } from "./estimate-fork";
import { planFork } from "./plan-fork";
import { startFork } from "./start-fork";

const server = await openScriptedServer((response) => {
  response.writeHead(200, { "content-type": "application/json" });
  response.end(JSON.stringify({ call: server.requests.length }));
});
afterAll(() => server.close());
const world = await openWorld({ fetch: (address, init) => fetch(address, init) });

const get = (id: string, rest: JsonObject = {}) => ({
  id,
  uses: "http_request",
  with: { url: `${server.url}/${id}` },
  ...rest,
});
const DEFINITION = {
  steps: [
    { id: "stamp", uses: "transform_json", with: { value: "{{ run.id }}", expression: "$" } },
    get("never", { if: "steps.stamp = 1" }),
    {
      id: "both",
      parallel: [get("left"), get("right", { with: { url: `${server.url}/right?run={{ run.id }}` } })],
    },
    {
      id: "each",
      uses: "transform_json",
      forEach: "[1, 2, 2]",
      concurrency: 3,
      with: { value: "{{ item }}", expression: "$ * 10" },
    },
    get("last", { with: { url: `${server.url}/last?{{ $string($sum(steps.each)) }}` } }),
  ],
  output: {
    each: "{{ steps.each }}",
    run: "{{ run.id }}",
    last: "{{ steps.last.body.call }}",
    left: "{{ steps.both.left }}",
  },
};

async function origin(tenant: Tenant, definition: JsonObject = DEFINITION) {
  const targetId = await insertTool(world, tenant, { slug: "flow", definition });
  const actor = { kind: "operator", orgId: tenant.orgId, name: "test" } as const;
  const { runId } = await startRun(world, actor, { kind: "tool", targetId, input: {} });
  await executeRun(world, runId);
  return read(runId);
}

const read = (runId: string) =>
  world.db.run.findUniqueOrThrow({
    where: { id: runId },
    include: { steps: { orderBy: { stepNumber: "asc" } } },
  });
const outputOf = ({ output }: { output: string | null }) => JSON.parse(output ?? "null");

type Fork = Partial<ForkRequest> & { fromStep: number };

async function plan(tenant: Tenant, runId: string, request: Fork) {
  const member = await createMember(world, tenant);
  return {
    member,
    plan: await planFork(world, member, { changes: {}, tools: "recorded", ...request, runId }),
  };
}

async function executeFork(tenant: Tenant, runId: string, request: Fork) {
  const planned = await plan(tenant, runId, request);
  const forkId = (await startFork(world, planned.member, planned)).runId;
  const calls = server.requests.length;
  await executeRun(world, forkId);
  return { ...(await read(forkId)), calls: server.requests.length - calls };
}

const numberOf = ({ steps }: Awaited<ReturnType<typeof read>>, key: string) =>
  steps.find((step) => step.key === key)?.stepNumber ?? 0;

it("begins at the start of a group, and answers its calls from the record", async () => {
  const tenant = await createTenant(world);
  const first = await origin(tenant);
  expect(first).toMatchObject({ status: "Completed", stepsExecuted: 7 });
  const made = await executeFork(tenant, first.id, { fromStep: numberOf(first, "right") });
  // Calls with `run.id` in their arguments are in the record, too.
  expect(made).toMatchObject({ status: "Completed", output: first.output, calls: 0, actionsUsed: 0 });
  expect(made).toMatchObject({ forkStep: 3, stepsExecuted: 7 });
  expect(Number(made.creditsUsed)).toBe(0);
  expect(made.steps.map(({ key, status, sequence }) => [key, status, sequence > 1]).slice(0, 3)).toEqual([
    ["stamp", "Completed", false],
    ["never", "Skipped", false],
    ["left", "Completed", true],
  ]);
  await expectSoundLedger(world, tenant);
});

it("executes from the start of a forEach under live, where expressions see the new run", async () => {
  const tenant = await createTenant(world);
  const first = await origin(tenant);
  const made = await executeFork(tenant, first.id, { fromStep: numberOf(first, "each[1]"), tools: "live" });
  expect(made).toMatchObject({
    status: "Completed",
    calls: 1,
    actionsUsed: 4,
    forkStep: numberOf(first, "each[0]"),
  });
  expect(outputOf(made)).toMatchObject({ run: made.id, each: [10, 20, 20], left: outputOf(first).left });
  expect(made.creditsUsed.toFixed(4)).toBe("0.0400");
  // A fork of it takes the earlier steps from the first run, whose id they saw.
  const again = await executeFork(tenant, made.id, { fromStep: numberOf(made, "right") });
  expect(again).toMatchObject({ status: "Completed", output: made.output, calls: 0 });
  await expectSoundLedger(world, tenant);
});

it("replaces an output, of an item of a forEach too; what depends on it is not in the record", async () => {
  const tenant = await createTenant(world);
  const first = await origin(tenant);
  const changes = { output: 70 };
  const made = await executeFork(tenant, first.id, { fromStep: numberOf(first, "each[1]"), changes });
  expect(
    made.steps.filter(({ toolName }) => toolName === "transform_json").map(({ output }) => output),
  ).toEqual([JSON.stringify(first.id), "70", "10", "20"]);
  expect(made).toMatchObject({ status: "Failed", errorCode: "step_failed", calls: 0 });
  expect(made.errorMessage).toMatch(/^Step "last" failed: The call is not in the record/);
  expect(made.steps.at(-1)?.output).toContain('"code":"not_in_record"');
  const behind = (made.steps.at(-1)?.stepNumber ?? 0) + 1;
  await expect(plan(tenant, made.id, { fromStep: behind })).rejects.toThrow(
    "The last step failed and ended the run",
  );
  // The replaced item was taken over before the first one, whose number no step has.
  const number = numberOf(first, "each[0]");
  await expect(plan(tenant, made.id, { fromStep: number })).rejects.toThrow(`The run has no step ${number}`);
});

it("replaces arguments", async () => {
  const tenant = await createTenant(world);
  const first = await origin(tenant);
  const fromStep = numberOf(first, "last");
  const changes = { input: { url: `${server.url}/elsewhere` } };
  const made = await executeFork(tenant, first.id, { fromStep, changes, tools: "live" });
  expect(made).toMatchObject({ status: "Completed", calls: 1 });
  expect(server.requests.at(-1)?.path).toBe("/elsewhere");
  const recorded = await executeFork(tenant, first.id, { fromStep, changes });
  expect(recorded).toMatchObject({ status: "Failed", calls: 0 });
  // A fork of the fork has the same arguments.
  const again = await executeFork(tenant, made.id, { fromStep: 1 });
  expect(again).toMatchObject({ status: "Completed", output: made.output, calls: 0 });
  // Another replacement leaves the first one.
  const other = { input: { url: `${server.url}/other` } };
  const at = numberOf(made, "left");
  const both = await executeFork(tenant, made.id, { fromStep: at, changes: other, tools: "live" });
  expect(both.status).toBe("Completed");
  expect(new Set(server.requests.slice(-3).map(({ path }) => path))).toEqual(
    new Set(["/other", `/right?run=${both.id}`, "/elsewhere"]),
  );
});

async function insertVersion(toolId: string | null, number: number, definition: JsonObject): Promise<void> {
  const text = JSON.stringify({ parameters: { type: "object" }, ...definition });
  const data = { number, definition: text, createdBy: "operator", createdAt: world.clock.now() };
  await world.db.toolVersion.create({ data: { ...data, toolId: toolId ?? "" } });
}

it("continues a run that ended before a step had a row, with that step", async () => {
  const broken = { with: { url: '{{ $error("no address") }}' } };
  const own = { with: { url: `${server.url}/own?run={{ run.id }}` } };
  const failing = [
    [get("one"), get("two", broken), get("three", own)],
    [get("one"), get("two", { if: '$error("no stock")' }), get("three", own)],
    [get("one"), { id: "two", parallel: [get("left", own), get("right", broken)] }, get("three", own)],
  ];
  for (const steps of failing) {
    const tenant = await createTenant(world);
    const first = await origin(tenant, { steps });
    expect(first).toMatchObject({ status: "Failed", errorCode: "step_failed" });
    const corrected = { steps: [get("one"), get("two", own), get("three", own)] };
    await insertVersion(first.toolId, 2, corrected);
    const request = { fromStep: first.steps.length + 1, changes: { toolVersion: 2 }, tools: "live" } as const;
    const planned = await plan(tenant, first.id, request);
    const { sideEffects, mostCredits } = await estimateFork(world, planned.member, planned);
    expect(sideEffects.map(({ step }) => step)).toEqual(["two", "three"]);
    expect(mostCredits.toFixed(4)).toBe("0.0200");
    const made = await executeFork(tenant, first.id, request);
    expect(made).toMatchObject({ status: "Completed", calls: 2, forkStep: 2 });
    expect(server.requests.slice(-2).map(({ path }) => path)).toEqual([
      `/own?run=${made.id}`,
      `/own?run=${made.id}`,
    ]);
  }
});

it("uses another version of the tool, if the steps before are the same", async () => {
  const tenant = await createTenant(world);
  const first = await origin(tenant);
  const addVersion = (number: number, definition: JsonObject) =>
    insertVersion(first.toolId, number, definition);
  await addVersion(2, { ...DEFINITION, output: "{{ $sum(steps.each) }}" });
  await addVersion(3, { ...DEFINITION, steps: DEFINITION.steps.slice(1) });
  const [stamp, ...rest] = DEFINITION.steps;
  await addVersion(4, { ...DEFINITION, steps: [{ ...stamp, forEach: "[1, 2]" }, ...rest] });
  await addVersion(5, { ...DEFINITION, steps: [{ retries: 1, ...stamp }, ...rest] });
  const made = await executeFork(tenant, first.id, { fromStep: 9, changes: { toolVersion: 2 } });
  expect(made).toMatchObject({ status: "Completed", output: "50", targetVersion: 2, calls: 0, forkStep: 9 });
  const planWith = (toolVersion: number) => plan(tenant, first.id, { fromStep: 4, changes: { toolVersion } });
  for (const version of [3, 4]) {
    await expect(planWith(version)).rejects.toThrow(
      "changes.toolVersion has other steps before the one where the fork begins",
    );
  }
  expect((await planWith(5)).plan).toBeDefined();
  await expect(planWith(6)).rejects.toThrow("There is no version 6");
  await expect(plan(tenant, first.id, { fromStep: 1, changes: { model: "gpt-5" } })).rejects.toThrow(
    "changes.model is not a setting of tools",
  );
});

it("does not answer from a step whose end is unknown", async () => {
  const tenant = await createTenant(world);
  const first = await origin(tenant);
  const unknown = "The run ended (Cancelled) before this step had finished.";
  const where = { runId: first.id, key: "last" };
  await world.db.step.updateMany({ where, data: { status: "Failed", errorMessage: unknown, output: "{}" } });
  const made = await executeFork(tenant, first.id, { fromStep: numberOf(first, "last") });
  expect(made.errorMessage).toContain("The call is not in the record");
});

it("continues in another process, with what it took over", async () => {
  const tenant = await createTenant(world);
  const definition = {
    steps: [get("one"), { id: "pause", uses: "wait", with: { seconds: 60 } }, get("two")],
  };
  const targetId = await insertTool(world, tenant, { slug: "pauses", definition });
  const actor = { kind: "operator", orgId: tenant.orgId, name: "test" } as const;
  const { runId } = await startRun(world, actor, { kind: "tool", targetId, input: {} });
  expect(await executeRun(world, runId)).toBe("asleep");
  world.clock.advance(61_000);
  await wakeRuns(world);
  await executeRun(world, runId);
  const planned = await plan(tenant, runId, { fromStep: 2, tools: "live" });
  const forkId = (await startFork(world, planned.member, planned)).runId;
  const calls = server.requests.length;
  expect(await executeRun(world, forkId)).toBe("asleep");
  world.clock.advance(61_000);
  await wakeRuns(world);
  const beside = await createWorld({ beside: world, fetch: world.fetch });
  await executeRun(beside, forkId);
  await beside.close();
  const made = await read(forkId);
  expect(made).toMatchObject({ status: "Completed", stepsExecuted: 3, actionsUsed: 2 });
  expect(server.requests.slice(calls).map(({ path }) => path)).toEqual(["/two"]);
  await expectSoundLedger(world, tenant);
});

it("costs nothing more than its remaining steps", async () => {
  const tenant = await createTenant(world);
  const first = await origin(tenant, {
    steps: [get("one"), get("two"), get("three", { with: { url: server.url, method: "POST" } })],
  });
  const estimate = async (tools: "recorded" | "live") => {
    const planned = await plan(tenant, first.id, { fromStep: 2, tools });
    const { mostCredits, sameUsage, sideEffects, issues } = await estimateFork(
      world,
      planned.member,
      planned,
    );
    return [mostCredits.toFixed(4), sameUsage.toFixed(4), sideEffects, issues];
  };
  const effects = ["two", "three"].map((step) => ({ name: "http_request", step }));
  expect(await estimate("live")).toEqual(["0.0200", "0.0200", effects, []]);
  expect(await estimate("recorded")).toEqual(["0.0000", "0.0000", [], []]);
});

it("counts the model calls of the steps that are executed again", async () => {
  const tenant = await createTenant(world);
  const text = (id: string) => ({ id, uses: "generate_text", with: { prompt: "Hi" } });
  const first = await origin(tenant, { steps: [text("one"), text("two"), text("three")] });
  expect(first.status).toBe("Completed");
  const usage = async (fromStep: number, tools: "recorded" | "live") => {
    const planned = await plan(tenant, first.id, { fromStep, tools });
    return (await estimateFork(world, planned.member, planned)).sameUsage;
  };
  const calls = await world.db.modelCall.findMany({ where: { runId: first.id }, orderBy: { key: "asc" } });
  expect(calls.map(({ key, credits }) => [key, credits.gt(0)])).toEqual([
    ["one/model-1-1", true],
    ["three/model-1-1", true],
    ["two/model-1-1", true],
  ]);
  expect((await usage(1, "live")).toFixed(4)).toBe(first.creditsUsed.toFixed(4));
  // Each step cost as much.
  expect((await usage(2, "live")).toFixed(4)).toBe(first.creditsUsed.mul(2).div(3).toFixed(4));
  expect((await usage(1, "recorded")).toFixed(4)).toBe("0.0000");
});

it("takes over a last step that failed, if the tool continued after it", async () => {
  const tenant = await createTenant(world);
  const failing = { uses: "transform_json", with: { value: 1, expression: '$error("no stock")' } };
  const steps = [
    { id: "one", ...failing, onError: "continue" },
    get("two", { with: { url: '{{ $error("no address") }}' } }),
  ];
  const first = await origin(tenant, { steps });
  expect(first).toMatchObject({ status: "Failed", errorCode: "step_failed", stepsExecuted: 1 });
  const planned = await plan(tenant, first.id, { fromStep: 2, tools: "live" });
  expect(planned.plan).toMatchObject({ cut: { stepId: "two" } });
});
