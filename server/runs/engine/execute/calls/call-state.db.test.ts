import { afterAll, afterEach, describe, expect, it } from "vitest";
import type { ModelApi } from "@/server/base/models/model-api";
import { onPausePoint } from "@/server/base/pause-points";
import { createEncryption } from "@/server/guard/secrets/encryption";
import { rotateSecret } from "@/server/operate/rotate-secret";
import { openRunFile } from "@/server/runs/read/run-file";
import { startRun } from "@/server/runs/start";
import { createModels } from "@/server/work/models/registry";
import { testClock } from "@/testing/clock";
import { executeRun, executeSegment, replaceWorker } from "@/testing/execute";
import { deepseek } from "@/testing/servers/families/deepseek";
import { gemini } from "@/testing/servers/families/gemini";
import { kimi } from "@/testing/servers/families/kimi";
import { openrouter } from "@/testing/servers/families/openrouter";
import { qwen } from "@/testing/servers/families/qwen";
import { startStrictChat } from "@/testing/servers/families/strict-chat";
import { startStrictMessages, thinksFor } from "@/testing/servers/families/strict-messages";
import { calculatesFor, startStrictResponses } from "@/testing/servers/families/strict-responses";
import { createTenant, createWorld, openWorld, setAgent, type Tenant, type World } from "@/testing/world";
import { admitWaitingRuns } from "../../claim";
import { WorkerLost } from "../../write/writer";

const starts = [
  ...[gemini, deepseek, kimi, qwen, openrouter].map((family) => ({
    name: family.name,
    api: "chat" as const,
    start: (streams: boolean) => startStrictChat(family, { streams }),
  })),
  {
    name: "openai",
    api: "responses" as const,
    start: (streams: boolean) =>
      startStrictResponses(calculatesFor(2), { rejects: streams ? [] : ["stream"] }),
  },
  {
    name: "anthropic",
    api: "anthropic" as const,
    start: (streams: boolean) => startStrictMessages(thinksFor(2), { rejects: streams ? [] : ["stream"] }),
  },
];
const servers = await Promise.all(
  starts.flatMap(({ name, api, start }) =>
    [true, false].map(async (streams) => ({
      model: `${name}-${streams ? "streamed" : "whole"}`,
      api,
      chat: await start(streams),
    })),
  ),
);
const elsewhere = await startStrictChat(gemini);
const clock = testClock();
const modelsOf = (addresses: { model: string; api?: ModelApi; baseUrl: string }[]) =>
  createModels({
    providers: addresses.map(({ model, ...server }) => ({ name: model, ...server, models: [model] })),
    clock,
  });
const addresses = servers.map(({ model, api, chat }) => ({ model, api, baseUrl: chat.url }));
const world = await openWorld({ models: modelsOf(addresses) });

afterEach(() => onPausePoint(null));
afterAll(() => Promise.all([elsewhere, ...servers.map(({ chat }) => chat)].map((chat) => chat.close())));

const [streamedGemini] = servers;
if (streamedGemini === undefined) throw new Error("there is no server");

async function agentOf(model: string): Promise<Tenant> {
  const tenant = await createTenant(world);
  await setAgent(world, tenant, { model });
  return tenant;
}

async function start(tenant: Tenant): Promise<string> {
  const actor = { kind: "operator", orgId: tenant.orgId, name: "test" } as const;
  return (await startRun(world, actor, { kind: "agent", targetId: tenant.agentId, userMessage: "Add." }))
    .runId;
}

async function executeFirstCall(runId: string): Promise<void> {
  await admitWaitingRuns(world, { worker: null, slots: 1_000 });
  await executeSegment(world, runId, { calls: 1 });
}

const read = (id: string) =>
  world.db.run.findUniqueOrThrow({
    where: { id },
    include: { modelCalls: { orderBy: { id: "asc" } }, steps: { orderBy: { stepNumber: "asc" } } },
  });

async function withProcess<T>(work: (beside: World) => Promise<T>, models = modelsOf(addresses)): Promise<T> {
  const beside = await createWorld({ beside: world, models });
  try {
    return await work(beside);
  } finally {
    await beside.close();
  }
}

function dieBeforeSecondCall(runId: string): void {
  onPausePoint(async (point) => {
    if (point !== "act:before") return;
    const { modelCalls, steps } = await read(runId);
    const calls = JSON.parse(modelCalls[0]?.toolCalls ?? "[]").length;
    if (calls === 0 || steps.filter(({ status }) => status === "Completed").length < calls) return;
    await replaceWorker(world);
    throw new WorkerLost();
  });
}

describe.each(servers)("$model", ({ model, chat }) => {
  it("gets back what it gave, in one process", async () => {
    const runId = await start(await agentOf(model));
    await executeRun(world, runId);
    expect(chat.rejected).toEqual([]);
    expect(await read(runId)).toMatchObject({ status: "Completed", output: "Done after 2." });
  });

  it("gets it back from another process that takes the run over before the next call", async () => {
    const tenant = await agentOf(model);
    await withProcess(async (beside) => {
      for (let round = 1; round <= 2; round += 1) {
        const answered = chat.answered;
        const runId = await start(tenant);
        dieBeforeSecondCall(runId);
        await expect(executeRun(world, runId)).rejects.toThrow(WorkerLost);
        onPausePoint(null);
        expect(chat.answered, "the second call is not made yet").toBe(answered + 1);
        expect((await read(runId)).status).toBe("Running");
        await executeRun(beside, runId);
        expect(chat.rejected).toEqual([]);
        expect(await read(runId)).toMatchObject({ status: "Completed", output: "Done after 2.", epoch: 2 });
        expect(chat.answered).toBe(answered + 3);
      }
    });
  }, 60_000);
});

it("shows the reasoning, which is a step's if there is no text beside its call", async () => {
  const shown = async (model: string) => {
    const runId = await start(await agentOf(model));
    await executeRun(world, runId);
    const { modelCalls, steps } = await read(runId);
    return {
      calls: modelCalls.map(({ reasoning }) => reasoning),
      steps: steps.map(({ reasoning }) => reasoning),
    };
  };
  const silent = await shown("deepseek-streamed");
  expect(silent.calls[0]).toMatch(/^Ich rechne “1 \+ 1” — 計算 🌍 \uFFFD\n/);
  expect(silent.steps).toEqual([silent.calls[0], ""]);
  expect((await shown("openrouter-whole")).calls).toEqual([
    "I have to add. Step 0 🌍",
    "I have to add. Step 1 🌍",
    "",
  ]);
  for (const model of ["openai-streamed", "anthropic-streamed"])
    expect((await shown(model)).calls).toEqual(["I have to add. Step 0 🌍", "I have to add. Step 1 🌍", ""]);
  expect((await shown("kimi-whole")).steps).toEqual(["Step 0.", "Step 1."]);
});

it("goes back after a call that ended and a deploy with another secret, and is sealed again by a rotation", async () => {
  const { model, chat } = streamedGemini;
  const runId = await start(await agentOf(model));
  await executeFirstCall(runId);
  const before = (await read(runId)).modelCalls[0]?.stateSealed;
  const encryption = createEncryption("another secret of thirty-two characters", world.env.secret);
  await withProcess(async (beside) => {
    expect(await rotateSecret({ ...beside, encryption })).toMatchObject({ unreadable: 0 });
    const after = (await read(runId)).modelCalls[0]?.stateSealed;
    expect(after?.subarray(0, 5)).toEqual(new Uint8Array(encryption.sealedBytesPrefix));
    expect(after).not.toEqual(before);
    expect(await rotateSecret({ ...beside, encryption })).toEqual({ resealed: 0, unreadable: 0 });
    beside.encryption = createEncryption("another secret of thirty-two characters");
    await executeRun(beside, runId);
  });
  expect(chat.rejected).toEqual([]);
  expect(await read(runId)).toMatchObject({ status: "Completed" });
});

it("is not sent to another address of the same provider, and does not open in another run", async () => {
  const { model, chat } = streamedGemini;
  const tenant = await agentOf(model);
  const [first, second] = [await start(tenant), await start(tenant)];
  for (const runId of [first, second]) await executeFirstCall(runId);
  await withProcess((beside) => executeRun(beside, first), modelsOf([{ model, baseUrl: elsewhere.url }]));
  expect(elsewhere.rejected).toEqual(["Function call is missing a thought_signature in functionCall parts."]);

  const where = { runId_key: { runId: second, key: "think-1" } };
  const { stateSealed } = await world.db.modelCall.findUniqueOrThrow({
    where: { runId_key: { runId: first, key: "think-1" } },
  });
  await world.db.modelCall.update({ where, data: { stateSealed } });
  await withProcess((beside) => executeRun(beside, second));
  expect(chat.rejected.splice(0)).toEqual([
    "Function call is missing a thought_signature in functionCall parts.",
  ]);
});

it("is in no row, page or file as it came", async () => {
  const { model, chat } = streamedGemini;
  const tenant = await agentOf(model);
  const runId = await start(tenant);
  chat.sent.length = 0;
  await executeRun(world, runId);
  const signature = /"thought_signature":"([^"]+)"/.exec(chat.sent[0] ?? "")?.[1] ?? "none";
  const member = { kind: "member", orgId: tenant.orgId, userId: "u", name: "Ada", role: "admin" } as const;
  const opened = await openRunFile(world, member, runId);
  let file = "";
  for await (const piece of opened?.pieces ?? []) file += piece;
  expect(file).toContain("modelCalls");
  expect(file).not.toContain("thought_signature");
  expect(file).not.toContain("stateSealed");
  const [row] = (await read(runId)).modelCalls;
  expect(JSON.stringify(row)).not.toContain("thought_signature");
  expect(Buffer.from(row?.stateSealed ?? []).includes(signature.slice(0, 40))).toBe(false);
});
