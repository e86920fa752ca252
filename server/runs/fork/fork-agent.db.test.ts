import { expect, it } from "vitest";
import { Decimal } from "@/server/base/amount";
import type { ModelRequest } from "@/server/work/models/port";
import { ask, openScriptedWorld } from "@/testing/engine/scripted-world";
import { executeRun, replaceWorker } from "@/testing/execute";
import { expectSoundLedger } from "@/testing/ledger";
import { createMember } from "@/testing/runs";
import { createTenant, createWorld, setAgent, type Tenant } from "@/testing/world";
import { WorkerLost } from "../engine/write/writer";
import type { ForkRequest } from "./changes";
import { estimateFork } from "./estimate-fork";
import { planFork } from "./plan-fork";
import { startFork } from "./start-fork";

const { world, play, run, read, start, modelCalls } = await openScriptedWorld();

async function fork(tenant: Tenant, runId: string, request: Partial<ForkRequest> & { fromStep: number }) {
  const member = await createMember(world, tenant);
  const plan = await planFork(world, member, { changes: {}, tools: "recorded", ...request, runId });
  return (await startFork(world, member, { plan })).runId;
}

async function executeFork(
  tenant: Tenant,
  runId: string,
  request: Partial<ForkRequest> & { fromStep: number },
) {
  const forkId = await fork(tenant, runId, request);
  await executeRun(world, forkId);
  return read(forkId);
}

const resultsOf = ({ messages }: ModelRequest) =>
  messages.flatMap((message) => (message.role === "tool" ? [message.content] : []));
const sum = (a: number, b: number, id?: string) => ask("calculate", { expression: `${a}+${b}` }, id);

const threeSums = (request: ModelRequest) => {
  const replies = request.messages.filter(({ role }) => role === "assistant").length;
  if (replies === 0)
    return { content: "", toolCalls: [...sum(1, 1, "a").toolCalls, ...sum(2, 2, "b").toolCalls] };
  if (replies === 1) return sum(3, 3, "c");
  return { content: `Results: ${resultsOf(request).join(" ")}` };
};

async function origin(tenant: Tenant) {
  const made = await run(tenant, "Add.", threeSums);
  expect(made).toMatchObject({ status: "Completed", output: "Results: 2 4 6", stepsExecuted: 3 });
  return made;
}

it("takes earlier iterations over without cost, and answers later calls from the record", async () => {
  const tenant = await createTenant(world);
  const first = await origin(tenant);
  const prompts: string[] = [];
  play((request) => {
    prompts.push(request.messages[0]?.content ?? "");
    return resultsOf(request).length === 2 ? { ...sum(3, 3, "d") } : { content: "Shorter." };
  });
  const made = await executeFork(tenant, first.id, { fromStep: 3, changes: { systemPrompt: "Be short." } });
  expect(made).toMatchObject({
    status: "Completed",
    output: "Shorter.",
    forkedFrom: first.id,
    forkStep: 3,
    forkMode: "recorded",
    stepsExecuted: 3,
    actionsUsed: 0,
    inputTokens: 200,
    outputTokens: 20,
  });
  expect(prompts).toEqual(["Be short.", "Be short."]);
  expect(
    made.steps.map(({ key, output, actions, credits, inputTokens }) => [
      key,
      output,
      actions,
      Number(credits),
      inputTokens,
    ]),
  ).toEqual([
    ["call-1-1", "2", 0, 0, 0],
    ["call-1-2", "4", 0, 0, 0],
    ["call-2-1", "6", 0, 0, 100],
  ]);
  expect(made.modelCalls.map(({ key, inputTokens, sequence }) => [key, inputTokens, sequence > 1])).toEqual([
    ["think-1", 0, false],
    ["think-2", 100, true],
    ["think-3", 100, true],
  ]);
  expect(Number(made.creditsUsed)).toBeGreaterThan(0);
  await expectSoundLedger(world, tenant);
});

it("fails a call that is not in the record, and uses each recorded call once", async () => {
  const tenant = await createTenant(world);
  const first = await origin(tenant);
  play((request) => {
    const count = resultsOf(request).length;
    // Other spaces and another order of keys are the same arguments, another number is not.
    if (count === 0) return ask("calculate", '{ "expression" : "1+1" }', "x1");
    if (count === 1) return sum(1, 1, "x2");
    if (count === 2) return sum(9, 9, "x3");
    return { content: "Done." };
  });
  const made = await executeFork(tenant, first.id, { fromStep: 1 });
  const missing = `The call is not in the record: run ${first.id} has no call of calculate with these arguments left.`;
  expect(made.steps.map(({ status, errorMessage }) => [status, errorMessage])).toEqual([
    ["Completed", null],
    ["Failed", missing],
    ["Failed", missing],
  ]);
  expect(made).toMatchObject({ status: "Completed", actionsUsed: 0 });
});

it("executes later calls under live, and pays for them", async () => {
  const tenant = await createTenant(world);
  const first = await origin(tenant);
  play((request) => (resultsOf(request).length === 2 ? sum(20, 1, "d") : { content: "Live." }));
  const made = await executeFork(tenant, first.id, { fromStep: 3, tools: "live" });
  expect(made).toMatchObject({ status: "Completed", output: "Live.", actionsUsed: 1, stepsExecuted: 3 });
  expect(made.steps.at(-1)).toMatchObject({ output: "21", actions: 1 });
  await expectSoundLedger(world, tenant);
});

it("replaces a step's output: the model call that asked for it is taken over", async () => {
  const tenant = await createTenant(world);
  const first = await origin(tenant);
  play(threeSums);
  const made = await executeFork(tenant, first.id, { fromStep: 2, changes: { output: { is: 40 } } });
  // The fork begins at the first step of the iteration; the other call of it is answered from the record.
  expect(made).toMatchObject({ forkStep: 1, output: 'Results: 2 {"is":40} 6', stepsExecuted: 3 });
  expect(made.modelCalls.map(({ key, sequence }) => [key, sequence > 1])).toEqual([
    ["think-1", false],
    ["think-2", true],
    ["think-3", true],
  ]);
});

it("replaces a step's arguments, also for the model", async () => {
  const tenant = await createTenant(world);
  const first = await origin(tenant);
  const asked: string[] = [];
  play((request) => {
    const [reply] = request.messages.flatMap((message) => (message.role === "assistant" ? [message] : []));
    asked.push(reply?.toolCalls[1]?.arguments ?? "");
    return threeSums(request);
  });
  const changes = { input: { expression: "20+20" } };
  const live = await executeFork(tenant, first.id, { fromStep: 2, changes, tools: "live" });
  expect(live.output).toBe("Results: 2 40 6");
  expect(asked[0]).toBe('{"expression":"20+20"}');
  const recorded = await executeFork(tenant, first.id, { fromStep: 2, changes });
  expect(recorded.steps[1]).toMatchObject({ status: "Failed", input: '{"expression":"20+20"}' });
});

it("asks again for the answer, with all steps taken over, and with another message or model", async () => {
  const tenant = await createTenant(world);
  const first = await origin(tenant);
  play(({ model, messages }) => ({ content: `${model}: ${messages[1]?.content}` }));
  const changes = { userMessage: "Multiply.", model: "gpt-5" };
  const made = await executeFork(tenant, first.id, { fromStep: 4, changes });
  expect(made).toMatchObject({ output: "gpt-5: Multiply.", input: "Multiply.", model: "gpt-5", forkStep: 4 });
  expect(modelCalls()).toBe(1);
});

it("answers calls of child runs from the record, and forks a fork", async () => {
  const tenant = await createTenant(world);
  const adds = (request: ModelRequest) =>
    resultsOf(request).length === 0 ? ask("adder", { a: 1, b: 2 }) : { content: resultsOf(request).join() };
  const first = await run(tenant, "Add.", adds);
  expect(first.steps[0]?.childRunId).not.toBeNull();
  play(adds);
  const children = () => world.db.run.count({ where: { organizationId: tenant.orgId, source: "run" } });
  const made = await executeFork(tenant, first.id, { fromStep: 1, changes: { systemPrompt: "Again." } });
  expect(made).toMatchObject({ status: "Completed", output: first.output });
  const second = await executeFork(tenant, made.id, { fromStep: 1 });
  expect(second).toMatchObject({ status: "Completed", output: first.output, forkedFrom: made.id });
  expect(await children()).toBe(1);
  await executeFork(tenant, second.id, { fromStep: 1, tools: "live" });
  expect(await children()).toBe(2);
  await expectSoundLedger(world, tenant);
});

it("continues after its worker is replaced, with the same parts of the record", async () => {
  const tenant = await createTenant(world);
  const first = await origin(tenant);
  const again = (request: ModelRequest) => {
    const count = resultsOf(request).length;
    if (count === 0) return sum(1, 1, "x1");
    return count === 1 ? sum(1, 1, "x2") : { content: resultsOf(request).join(" ") };
  };
  play(again);
  const forkId = await fork(tenant, first.id, { fromStep: 1 });
  let lost = false;
  play(async (request) => {
    if (resultsOf(request).length === 1 && !lost) {
      lost = true;
      await replaceWorker(world);
    }
    return again(request);
  });
  await expect(executeRun(world, forkId)).rejects.toThrow(WorkerLost);
  await executeRun(world, forkId);
  const made = await read(forkId);
  expect(made).toMatchObject({ status: "Completed", epoch: 2, actionsUsed: 0 });
  expect(made.steps.map(({ key, status }) => [key, status])).toEqual([
    ["call-1-1", "Completed"],
    ["call-2-1", "Failed"],
  ]);
  await expectSoundLedger(world, tenant);
});

it("forks only ended runs of the own organization, at a step that exists", async () => {
  const tenant = await createTenant(world);
  const first = await origin(tenant);
  const { runId: open } = await start(tenant);
  await expect(fork(tenant, open, { fromStep: 1 })).rejects.toMatchObject({ code: "conflict", status: 409 });
  const stranger = await createTenant(world);
  await expect(fork(stranger, first.id, { fromStep: 1 })).rejects.toMatchObject({ code: "not_found" });
  await expect(fork(tenant, first.id, { fromStep: 5 })).rejects.toThrow(
    "fromStep must be from 1 to 4. The run has steps 1 to 3",
  );
  await expect(fork(tenant, first.id, { fromStep: 4, changes: { output: 1 } })).rejects.toThrow(
    "changes.output needs a step that was executed",
  );
  await expect(fork(tenant, first.id, { fromStep: 1, changes: { output: 1, input: {} } })).rejects.toThrow(
    "changes.input has no effect beside output",
  );
  await expect(fork(tenant, first.id, { fromStep: 1, changes: { toolVersion: 1 } })).rejects.toThrow(
    "changes.toolVersion needs a step that calls a tool",
  );
});

it("has the frozen configuration of its origin, also after the agent has changed", async () => {
  const tenant = await createTenant(world);
  const first = await origin(tenant);
  await setAgent(world, tenant, { systemPrompt: "New.", functions: [] });
  // Without the first one's caches.
  const beside = await createWorld({ beside: world, models: world.models });
  const prompts = new Set<string | undefined>();
  play((request) => {
    prompts.add(request.messages[0]?.content);
    return threeSums(request);
  });
  const member = await createMember(world, tenant);
  const request = { runId: first.id, fromStep: 3, changes: {}, tools: "live" as const };
  const { runId } = await startFork(beside, member, { plan: await planFork(beside, member, request) });
  await executeRun(world, runId);
  await beside.close();
  expect(await read(runId)).toMatchObject({ output: "Results: 2 4 6", actionsUsed: 1 });
  expect([...prompts]).toEqual(["You help."]);
});

it("estimates the most that it can cost, and names what has side effects", async () => {
  const tenant = await createTenant(world, { credits: "5" });
  await setAgent(world, tenant, { functions: ["calculate", "http_request"] });
  const first = await origin(tenant);
  const member = await createMember(world, tenant);
  const plan = (tools: "recorded" | "live") =>
    planFork(world, member, { runId: first.id, fromStep: 3, changes: {}, tools });
  const balance = (await world.db.organization.findUniqueOrThrow({ where: { id: tenant.orgId } })).balance;
  const live = await estimateFork(world, member, { plan: await plan("live") });
  expect(live).toMatchObject({ fromStep: 3, takenOver: 2, issues: [] });
  expect(live.sideEffects).toEqual([{ name: "http_request", step: null }]);
  expect(live.mostCredits.toFixed(4)).toBe(balance.toFixed(4));
  const recorded = await estimateFork(world, member, { plan: await plan("recorded") });
  expect(recorded.sideEffects).toEqual([]);
  expect(live.sameUsage.sub(recorded.sameUsage).toFixed(4)).toBe("0.0100");
});

it("estimates cached tokens at their own price", async () => {
  const tenant = await createTenant(world);
  await setAgent(world, tenant, { model: "gpt-4.1" });
  const tokens = { inputTokens: 9_000, cachedInputTokens: 8_000, outputTokens: 10 };
  const usage = { ...tokens, estimated: false };
  const first = await run(tenant, "Add.", () => ({ content: "Done.", usage }));
  const [input, cachedInput, output] = [new Decimal("0.01"), new Decimal("0.001"), new Decimal("0.1")];
  const prices = { ...world.prices, models: { "gpt-4.1": { input, cachedInput, output } } };
  const beside = await createWorld({ beside: world, models: world.models, prices });
  const member = await createMember(world, tenant);
  const request = { runId: first.id, fromStep: 1, changes: {}, tools: "live" as const };
  const { sameUsage } = await estimateFork(beside, member, { plan: await planFork(beside, member, request) });
  await beside.close();
  expect(sameUsage.toFixed(4)).toBe("0.0190");
});

it("hands a provider's own state on only with the conversation that it belongs to", async () => {
  const tenant = await createTenant(world);
  const states: (string | null | undefined)[][] = [];
  const twoCalls = (request: ModelRequest) => {
    const replies = request.messages.flatMap((message) => (message.role === "assistant" ? [message] : []));
    states.push(replies.map(({ state }) => state));
    const call = replies.length < 2 ? sum(replies.length, 1, `c${replies.length}`) : { content: "Done." };
    return { ...call, state: `state ${replies.length + 1}` };
  };
  const first = await run(tenant, "Add.", twoCalls);
  const statesOf = async (request: Partial<ForkRequest> & { fromStep: number }) => {
    states.length = 0;
    play(twoCalls);
    await executeFork(tenant, first.id, { ...request, tools: "live" });
    return states[0];
  };
  expect(await statesOf({ fromStep: 3 })).toEqual(["state 1", "state 2"]);
  expect(await statesOf({ fromStep: 2, changes: { output: 5 } })).toEqual(["state 1", "state 2"]);
  expect(await statesOf({ fromStep: 2, changes: { input: { expression: "7" } } })).toEqual(["state 1", null]);
  expect(await statesOf({ fromStep: 3, changes: { systemPrompt: "Else." } })).toEqual([null, null]);
  expect(await statesOf({ fromStep: 3, changes: { userMessage: "Else." } })).toEqual([null, null]);
  expect(await statesOf({ fromStep: 3, changes: { model: "gpt-5" } })).toEqual([null, null]);
});

it("does not take over the calls that ended its origin, unless one gets an output", async () => {
  const tenant = await createTenant(world);
  const failing = await run(tenant, "Divide.", () => ({
    content: "",
    toolCalls: [...ask("calculate", { expression: "1/0" }, "a").toolCalls, ...sum(1, 1, "b").toolCalls],
  }));
  expect(failing).toMatchObject({ status: "Failed", errorCode: "repeated_failure" });
  const last = failing.steps.at(-1)?.stepNumber ?? 0;
  await expect(fork(tenant, failing.id, { fromStep: last + 1 })).rejects.toThrow(
    `fromStep must be from 1 to ${last}. The last step failed and ended the run`,
  );
  play(() => ({ content: "None." }));
  const made = await executeFork(tenant, failing.id, { fromStep: last - 1, changes: { output: "none" } });
  expect(made).toMatchObject({ status: "Completed", output: "None." });
});
