import { describe, expect, it } from "vitest";
import type { Actor } from "@/server/base/actor";
import { Decimal } from "@/server/base/amount";
import type { JsonObject } from "@/server/base/json/json";
import { authenticateKey } from "@/server/catalog/auth/authenticate-key";
import { startRun } from "@/server/runs/start";
import { ask, openScriptedWorld } from "@/testing/engine/scripted-world";
import { executeRun, executeSegment, replaceWorker } from "@/testing/execute";
import { expectSoundLedger } from "@/testing/ledger";
import { insertTool, setWriter } from "@/testing/tools";
import { createTenant, createTrigger, type Tenant } from "@/testing/world";
import { admitWaitingRuns } from "../claim";
import { wakeRuns } from "../run-state";
import { WorkerLost } from "../write/writer";

const { world, play, start, read, run } = await openScriptedWorld();

async function setTool(tenant: Tenant, settings: { maxCredits: string | null; forEach?: boolean }) {
  const calculate = { uses: "calculate", with: { expression: "1+1" } };
  const steps = settings.forEach
    ? [{ id: "each", ...calculate, forEach: "{{ [1,2,3] }}", as: "item", concurrency: 3 }]
    : ["one", "two", "three"].map((id) => ({ id, ...calculate }));
  await world.db.toolVersion.updateMany({
    where: { toolId: tenant.toolId },
    data: {
      definition: JSON.stringify({ parameters: { type: "object" }, steps }),
      maxCredits: settings.maxCredits,
    },
  });
}

describe("agent runs", () => {
  it("fails with a clear message when the balance is empty; its steps stay and the balance is not negative", async () => {
    const tenant = await createTenant(world, { credits: "0.42" });
    const failed = await run(tenant, "Hi", (_request, call) => ({
      ...ask("calculate", { expression: `${call}+1` }),
      usage: { inputTokens: 100, outputTokens: 500, estimated: false },
    }));
    expect(failed.status).toBe("Failed");
    expect(failed.errorMessage).toMatch(/Insufficient credits/);
    expect(failed.stepsExecuted).toBe(1);
    await expectSoundLedger(world, tenant);
  });

  const WIDE = "0.5";
  const NARROW = "0.05";
  it.each([
    ["agent's setting", { agent: NARROW, trigger: WIDE }, "the agent's setting"],
    ["API key", { agent: WIDE, key: NARROW }, 'the API key "ci"'],
    ["trigger", { agent: WIDE, trigger: NARROW }, 'the trigger "Inbound"'],
  ])("stop at maxCredits of the %s and name it", async (_name, caps, named) => {
    const tenant = await createTenant(world);
    const { agentId, apiKeyId, orgId, key } = tenant;
    await world.db.agentVersion.updateMany({ where: { agentId }, data: { maxCredits: caps.agent } });
    if ("key" in caps) {
      await world.db.apiKey.update({ where: { id: apiKeyId }, data: { maxCredits: caps.key } });
    }
    const target = { kind: "agent", targetId: agentId, userMessage: "Hi" } as const;
    play((request, call) => {
      expect(request.maxOutputTokens).toBeLessThan(130);
      return {
        ...ask("calculate", { expression: `${call}+1` }),
        usage: { inputTokens: 20, outputTokens: 100, estimated: false },
      };
    });
    const actor: Actor =
      "key" in caps
        ? await authenticateKey(world, key)
        : {
            kind: "trigger",
            orgId,
            triggerId: (await createTrigger(world, tenant)).id,
            name: "Inbound",
            maxCredits: new Decimal(caps.trigger),
          };
    const { runId } = await startRun(world, actor, target);
    await executeRun(world, runId);
    const failed = await read(runId);
    expect(failed).toMatchObject({ status: "Failed", errorCode: "max_credits" });
    expect(failed.errorMessage).toContain(`cap of 0.05 credits (maxCredits of ${named}): 0.042 are used`);
    await expectSoundLedger(world, tenant);
  });

  it("stop at maxCredits whatever their tools have used of it, also after a takeover", async () => {
    const tenant = await createTenant(world, { agent: { functions: [] } });
    // Each call of the tool uses 0.04 for the model and two actions.
    await setWriter(world, tenant);
    await world.db.agentVersion.updateMany({
      where: { agentId: tenant.agentId },
      data: { maxCredits: "0.1" },
    });
    const usage = { inputTokens: 0, outputTokens: 100, estimated: false };
    play((request) =>
      request.messages.some(({ content }) => content === "write")
        ? { content: "text", usage: { ...usage, outputTokens: Math.min(100, request.maxOutputTokens) } }
        : { ...ask("adder", {}), usage: { ...usage, outputTokens: 0 } },
    );
    const { runId } = await start(tenant);
    await admitWaitingRuns(world, { worker: null, slots: 1_000 });
    // The model, the round of calls and the tool's step; another worker continues before the second model call.
    expect(await executeSegment(world, runId, { calls: 3 })).toBe("paused");
    expect(await executeSegment(world, runId)).toBe("ended");
    const failed = await read(runId);
    expect(failed).toMatchObject({ status: "Failed", errorCode: "max_credits" });
    const total = await world.db.run.aggregate({ where: { rootRunId: runId }, _sum: { creditsUsed: true } });
    expect(total._sum.creditsUsed?.toNumber()).toBeLessThanOrEqual(0.1);
    expect(failed.stepsExecuted).toBe(2);
    await expectSoundLedger(world, tenant);
  });

  it("stop at maxCredits before an action too, in parallel ones as well", async () => {
    const tenant = await createTenant(world);
    // The model call costs 0.014, so the cap allows two of three actions at 0.01.
    await world.db.agentVersion.updateMany({
      where: { agentId: tenant.agentId },
      data: { maxCredits: "0.035" },
    });
    const failed = await run(tenant, "Add", () => ({
      content: "",
      toolCalls: ["a", "b", "c"].flatMap((id) => ask("calculate", { expression: "1+1" }, id).toolCalls),
      usage: { inputTokens: 100, outputTokens: 10, estimated: false },
    }));
    expect(failed).toMatchObject({ status: "Failed", errorCode: "max_credits", actionsUsed: 2 });
    expect(failed.errorMessage).toContain("cap of 0.035 credits (maxCredits of the agent's setting)");
    expect(failed.creditsUsed.toString()).toBe("0.034");
    await expectSoundLedger(world, tenant);
  });

  it("continue when a tool fails at its own, lower maxCredits", async () => {
    const tenant = await createTenant(world, { agent: { functions: [] } });
    await setTool(tenant, { maxCredits: "0.025" });
    const done = await run(tenant, "Add", (_request, call) =>
      call === 1 ? ask("adder", {}) : { content: "The tool is too dear." },
    );
    expect(done).toMatchObject({ status: "Completed", actionsUsed: 1 });
    const error =
      "The run reached its cap of 0.025 credits (maxCredits of the tool's setting): 0.02 are used";
    expect(done.steps[0]?.output).toContain(error);
    const child = await world.db.run.findUniqueOrThrow({ where: { id: done.steps[0]?.childRunId ?? "" } });
    expect(child).toMatchObject({ status: "Failed", errorCode: "max_credits", actionsUsed: 2 });
    expect(child.errorMessage).toContain(error);
    await expectSoundLedger(world, tenant);
  });

  it("fail when a tool reaches the caller's cap before its own, and name the caller's", async () => {
    const tenant = await createTenant(world, { agent: { functions: [] } });
    await setTool(tenant, { maxCredits: "5" });
    await world.db.agentVersion.updateMany({
      where: { agentId: tenant.agentId },
      data: { maxCredits: "0.04" },
    });
    const usage = { inputTokens: 10, outputTokens: 5, estimated: false };
    const failed = await run(tenant, "Add", () => ({ ...ask("adder", {}), usage }));
    expect(failed).toMatchObject({ status: "Failed", errorCode: "max_credits" });
    expect(failed.errorMessage).toContain("maxCredits of the agent's setting");
    const child = await world.db.run.findUniqueOrThrow({ where: { id: failed.steps[0]?.childRunId ?? "" } });
    expect(child.errorMessage).toContain("cap of 0.04 credits (maxCredits of the agent's setting)");
    const total = await world.db.run.aggregate({
      where: { rootRunId: failed.id },
      _sum: { creditsUsed: true },
    });
    expect(total._sum.creditsUsed?.toNumber()).toBeLessThanOrEqual(0.04);
    await expectSoundLedger(world, tenant);
  });
});

describe("agents that another run called", () => {
  const TIME = { id: "time", uses: "current_time", with: {} };
  const USAGE = { inputTokens: 0, outputTokens: 100, estimated: false };

  // The caller's agent calls a tool again and again. Each call uses 0.04 for the model and 0.01 for each action.
  async function startCaller(
    tenant: Tenant,
    { after, beforeWrite = async () => {} }: { after: JsonObject; beforeWrite?: () => Promise<void> },
  ): Promise<string> {
    const write = { id: "text", uses: "generate_text", with: { prompt: "write" } };
    const definition = JSON.stringify({ parameters: { type: "object" }, steps: [write, after] });
    await world.db.toolVersion.updateMany({ where: { toolId: tenant.toolId }, data: { definition } });
    await world.db.agentVersion.updateMany({
      where: { agentId: tenant.agentId },
      data: { maxCredits: "0.1" },
    });
    const { slug } = await world.db.agent.findUniqueOrThrow({ where: { id: tenant.agentId } });
    const asks = { id: "ask", uses: "run_agent", with: { agent: slug, message: "Hi" } };
    const targetId = await insertTool(world, tenant, { slug: "caller", definition: { steps: [asks] } });
    play(async (request) => {
      if (!request.messages.some(({ content }) => content === "write"))
        return { ...ask("adder", {}), usage: { ...USAGE, outputTokens: 0 } };
      await beforeWrite();
      return { content: "text", usage: { ...USAGE, outputTokens: Math.min(100, request.maxOutputTokens) } };
    });
    const actor = { kind: "operator", orgId: tenant.orgId, name: "test" } as const;
    return (await startRun(world, actor, { kind: "tool", targetId, input: {} })).runId;
  }

  async function expectStoppedAtCap(tenant: Tenant, rootId: string): Promise<void> {
    const runs = await world.db.run.findMany({ where: { rootRunId: rootId, parentRunId: { not: null } } });
    const agent = runs.find(({ kind }) => kind === "agent");
    expect(agent).toMatchObject({ status: "Failed", errorCode: "max_credits" });
    const used = Decimal.sum(...runs.map(({ creditsUsed }) => creditsUsed.toString()));
    expect(used.toNumber()).toBeLessThanOrEqual(0.1);
    await expectSoundLedger(world, tenant);
  }

  it("stop at their own maxCredits, whatever their tools used before a wait", async () => {
    const tenant = await createTenant(world, { agent: { functions: [] } });
    const runId = await startCaller(tenant, { after: { id: "pause", uses: "wait", with: { seconds: 20 } } });
    for (let waits = 0; (await executeRun(world, runId)) === "asleep"; waits += 1) {
      expect(waits).toBeLessThan(2);
      world.clock.advance(20_000);
      await wakeRuns(world);
    }
    await expectStoppedAtCap(tenant, runId);
  });

  it("stop at their own maxCredits when another worker continues while their tool is in progress", async () => {
    const tenant = await createTenant(world, { agent: { functions: [] } });
    const runId = await startCaller(tenant, { after: TIME });
    await admitWaitingRuns(world, { worker: null, slots: 1_000 });
    // The call is over before the tool's second step.
    expect(await executeSegment(world, runId, { calls: 4 })).toBe("paused");
    expect(await executeSegment(world, runId)).toBe("ended");
    await expectStoppedAtCap(tenant, runId);
  });

  it("stop at their own maxCredits when the worker dies after their tool has ended", async () => {
    const tenant = await createTenant(world, { agent: { functions: [] } });
    let writes = 0;
    const beforeWrite = async () => {
      writes += 1;
      if (writes === 2) await replaceWorker(world);
    };
    const runId = await startCaller(tenant, { after: TIME, beforeWrite });
    await expect(executeRun(world, runId)).rejects.toThrow(WorkerLost);
    expect(await executeRun(world, runId)).toBe("ended");
    await expectStoppedAtCap(tenant, runId);
  });
});

describe("tool runs", () => {
  const CAP = "0.025";
  it.each([
    ["tool's setting", { tool: CAP, key: "1" }, "the tool's setting", false],
    ["tool's setting, with parallel items", { tool: CAP, key: "1" }, "the tool's setting", true],
    ["API key", { tool: "1", key: CAP }, 'the API key "ci"', false],
    ["trigger", { tool: "1", trigger: CAP }, 'the trigger "Inbound"', false],
  ])(
    "made of actions alone stop at maxCredits of the %s and name it",
    async (_name, caps, named, forEach) => {
      const tenant = await createTenant(world);
      await setTool(tenant, { maxCredits: caps.tool, forEach });
      const target = { kind: "tool", targetId: tenant.toolId, input: {} } as const;
      let actor: Actor;
      if ("key" in caps) {
        await world.db.apiKey.update({ where: { id: tenant.apiKeyId }, data: { maxCredits: caps.key } });
        actor = await authenticateKey(world, tenant.key);
      } else {
        const { id: triggerId } = await createTrigger(world, tenant);
        const maxCredits = new Decimal(caps.trigger);
        actor = { kind: "trigger", orgId: tenant.orgId, triggerId, name: "Inbound", maxCredits };
      }
      const { runId } = await startRun(world, actor, target);
      await executeRun(world, runId);
      const failed = await read(runId);
      expect(failed).toMatchObject({ status: "Failed", errorCode: "max_credits", actionsUsed: 2 });
      expect(failed.errorMessage).toContain(
        `cap of 0.025 credits (maxCredits of ${named}): ${forEach ? "" : "0.02 are used"}`,
      );
      expect(failed.creditsUsed.toString()).toBe("0.02");
      await expectSoundLedger(world, tenant);
    },
  );
});
