import { describe, expect, it } from "vitest";
import type { Actor } from "@/server/auth/actor";
import { authenticateKey } from "@/server/auth/authenticate-key";
import { Decimal } from "@/server/credits/amount";
import { ModelError, type ModelReply, type ModelRequest } from "@/server/models/port";
import { cancelRun } from "@/server/runs/cancel";
import { startRun } from "@/server/runs/start";
import { executeRun, replaceWorker } from "@/testing/execute";
import { expectSoundLedger } from "@/testing/ledger";
import {
  createTenant,
  createTrigger,
  createWorld,
  openWorld,
  scriptedModels,
  type Tenant,
  type World,
} from "@/testing/world";
import { admitWaitingRuns } from "../claim";
import { WorkerLost } from "../write/writer";

/** What runs do, use and leave, from start to end. */

type Script = (request: ModelRequest, call: number) => Partial<ModelReply> | Promise<Partial<ModelReply>>;
let script: Script = () => ({ content: "Done." });
let modelCalls = 0;

const world = await openWorld({
  models: scriptedModels((request) => {
    modelCalls += 1;
    return script(request, modelCalls);
  }),
});

const ask = (name: string, args: unknown, id = "c1") => ({
  content: `I call ${name}.`,
  toolCalls: [{ id, name, arguments: typeof args === "string" ? args : JSON.stringify(args) }],
});

async function run(tenant: Tenant, userMessage: string, play: Script) {
  script = play;
  modelCalls = 0;
  const { runId } = await start(tenant, userMessage);
  await executeRun(world, runId);
  return read(runId);
}

function start(tenant: Tenant, userMessage = "Hello") {
  const actor = { kind: "operator", orgId: tenant.orgId, name: "test" } as const;
  return startRun(world, actor, { kind: "agent", targetId: tenant.agentId, userMessage });
}

async function read(runId: string) {
  const row = await world.db.run.findUniqueOrThrow({
    where: { id: runId },
    include: {
      steps: { orderBy: { stepNumber: "asc" } },
      modelCalls: { orderBy: { iterationNumber: "asc" } },
    },
  });
  return row;
}

describe("agent runs", () => {
  it("answers at once", async () => {
    const tenant = await createTenant(world);
    const done = await run(tenant, "Hi", () => ({ content: "Hello!" }));
    expect(done).toMatchObject({ status: "Completed", output: "Hello!", stepsExecuted: 0, actionsUsed: 0 });
    expect(done.inputTokens + done.outputTokens).toBe(110);
    expect(done.creditsUsed.toString()).toBe("0.014");
    await expectSoundLedger(world, tenant);
  });

  it("calls functions in parallel and tools as child runs, and numbers the steps", async () => {
    const tenant = await createTenant(world);
    const done = await run(tenant, "Add", (_request, call) => {
      if (call === 1) {
        const two = [
          ...ask("calculate", { expression: "6*7" }, "a").toolCalls,
          ...ask("adder", { a: 1, b: 2 }, "b").toolCalls,
        ];
        return { content: "Both at once.", toolCalls: two };
      }
      return call === 2 ? ask("calculate", { expression: "1+1" }) : { content: "42 and 3." };
    });
    expect(done).toMatchObject({
      status: "Completed",
      output: "42 and 3.",
      stepsExecuted: 3,
      actionsUsed: 3,
    });
    expect(
      done.steps.map(({ stepNumber, iterationNumber, toolName, output, reasoning }) => [
        stepNumber,
        iterationNumber,
        toolName,
        output,
        reasoning,
      ]),
    ).toEqual([
      [1, 1, "calculate", "42", "Both at once."],
      [2, 1, "adder", '{"sum":3}', "Both at once."],
      [3, 2, "calculate", "2", "I call calculate."],
    ]);
    const child = await world.db.run.findUniqueOrThrow({ where: { id: done.steps[1]?.childRunId ?? "" } });
    expect(child).toMatchObject({ status: "Completed", source: "run", parentRunId: done.id, actionsUsed: 1 });
    expect(child.creditsUsed.toString()).toBe("0.01");
    expect(done.creditsUsed.toString()).toBe("0.072");
    await expectSoundLedger(world, tenant);
  });

  it("hands failing calls to the model: unknown tool, malformed and invalid arguments, failing function", async () => {
    const tenant = await createTenant(world);
    const done = await run(tenant, "Try", (request, call) => {
      if (call === 1) return ask("nothing", {});
      if (call === 2) return ask("calculate", "{not json");
      if (call === 3) return ask("calculate", { wrong: true });
      if (call === 4) return ask("calculate", { expression: "1/0" });
      expect(request.messages.filter(({ role }) => role === "tool")).toHaveLength(4);
      return { content: "I give up." };
    });
    expect(done).toMatchObject({ status: "Completed", stepsExecuted: 4, actionsUsed: 1 });
    for (const step of done.steps)
      expect(JSON.parse(step.output ?? "")).toEqual({ error: expect.any(String) });
    expect(done.steps[1]?.input).toBe(JSON.stringify("{not json"));
  });

  it("fails with a clear message when the same failing call is made a third time", async () => {
    const tenant = await createTenant(world);
    const failed = await run(tenant, "Loop", () => ask("calculate", { expression: "1/0" }));
    expect(failed).toMatchObject({ status: "Failed", stepsExecuted: 3, output: null });
    expect(failed.errorMessage).toMatch(/calculate failed 3 times/);
    await expectSoundLedger(world, tenant);
  });

  it("asks for the answer without tools once all steps are used", async () => {
    const tenant = await createTenant(world, { agent: { maxSteps: 2 } });
    const done = await run(tenant, "Go on", (request, call) => {
      if (request.tools.length === 0) return { content: "Enough." };
      return ask("calculate", { expression: `${call}+1` });
    });
    expect(done).toMatchObject({ status: "Completed", output: "Enough.", stepsExecuted: 2 });
    expect(done.modelCalls.map(({ key }) => key)).toEqual(["think-1", "think-2", "answer"]);
    expect(done.inputTokens + done.outputTokens).toBe(330);
  });

  it("cuts an output over 1 MiB for the model and keeps the stored document valid", async () => {
    const tenant = await createTenant(world, { agent: { functions: ["transform_json"] } });
    const done = await run(tenant, "Big", (_request, call) =>
      call === 1
        ? ask("transform_json", { value: "x".repeat(700_000), expression: "$ & $" })
        : { content: "Big." },
    );
    expect(JSON.parse(done.steps[0]?.output ?? "")).toMatchObject({
      truncated: true,
      bytes: expect.any(Number),
    });
  });

  it("turns U+0000 of models into U+FFFD", async () => {
    const tenant = await createTenant(world);
    const done = await run(tenant, "Nul", () => ({ content: "a\0b" }));
    expect(done.output).toBe("a\uFFFDb");
  });

  it("fails with the model's error, keeping what was used", async () => {
    const tenant = await createTenant(world);
    const failed = await run(tenant, "Hi", (_request, call) => {
      if (call === 1) return ask("calculate", { expression: "1+1" });
      throw new ModelError("The provider says no.", { reason: "refused", attempts: [] });
    });
    expect(failed).toMatchObject({
      status: "Failed",
      errorMessage: "The provider says no.",
      stepsExecuted: 1,
    });
    expect(failed.creditsUsed.toString()).toBe("0.024");
    await expectSoundLedger(world, tenant);
  });

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
    script = (request, call) => {
      expect(request.maxOutputTokens).toBeLessThan(130);
      return {
        ...ask("calculate", { expression: `${call}+1` }),
        usage: { inputTokens: 20, outputTokens: 100, estimated: false },
      };
    };
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
    await setWriter(tenant);
    await world.db.agentVersion.updateMany({
      where: { agentId: tenant.agentId },
      data: { maxCredits: "0.1" },
    });
    const usage = { inputTokens: 0, outputTokens: 100, estimated: false };
    script = (request) =>
      request.messages.some(({ content }) => content === "write")
        ? { content: "text", usage: { ...usage, outputTokens: Math.min(100, request.maxOutputTokens) } }
        : { ...ask("adder", {}), usage: { ...usage, outputTokens: 0 } };
    const { runId } = await start(tenant);
    await admitWaitingRuns(world, null, 1_000);
    // The model, the round of calls and the tool's step; another worker continues before the second model call.
    expect(await world.engine.executeSegment(runId, { acts: 3 })).toBe("paused");
    expect(await world.engine.executeSegment(runId)).toBe("ended");
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

  it("fail at their deadline, in the middle of a model call", async () => {
    const tenant = await createTenant(world);
    await world.db.agentVersion.updateMany({
      where: { agentId: tenant.agentId },
      data: { deadlineSeconds: 1 },
    });
    const late = await run(tenant, "Hi", (request) => {
      return new Promise((_resolve, reject) => {
        request.signal.addEventListener("abort", () => reject(request.signal.reason));
      });
    });
    expect(late).toMatchObject({
      status: "Failed",
      errorCode: "deadline_exceeded",
      errorMessage: "The run passed its deadline of 1 seconds.",
      modelCalls: [
        { status: "Failed", errorMessage: "The run ended (Failed) before this call had finished." },
      ],
    });
    await expectSoundLedger(world, tenant);
  });

  it("fail at once when they are taken over after their deadline", async () => {
    const tenant = await createTenant(world);
    script = () => ask("calculate", { expression: "1+1" });
    modelCalls = 0;
    const { runId } = await start(tenant);
    await admitWaitingRuns(world, null, 1_000);
    expect(await world.engine.executeSegment(runId, { acts: 2 })).toBe("paused");
    world.clock.advance(901_000);
    expect(await world.engine.executeSegment(runId)).toBe("ended");
    expect(modelCalls).toBe(1);
    expect(await read(runId)).toMatchObject({
      status: "Failed",
      errorCode: "deadline_exceeded",
      stepsExecuted: 1,
    });
    await expectSoundLedger(world, tenant);
  });
});

/** Gives the tenant's tool three actions, in sequence or over a list. */
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

/** Gives the tenant's tool a step that generates a text. */
async function setWriter(tenant: Tenant) {
  const definition = {
    parameters: { type: "object" },
    steps: [{ id: "text", uses: "generate_text", with: { prompt: "write" } }],
    output: "{{ steps.text }}",
  };
  await world.db.toolVersion.updateMany({
    where: { toolId: tenant.toolId },
    data: { definition: JSON.stringify(definition) },
  });
}

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

describe("prices", () => {
  it("are those of the start, though the run is executed under another price list, children too", async () => {
    const tenant = await createTenant(world);
    const dearer = {
      models: { "gpt-5-mini": { input: new Decimal(50), output: new Decimal(50) } },
      defaultModel: { input: new Decimal(50), output: new Decimal(50) },
      action: new Decimal(1),
    };
    script = (_request, call) => (call === 1 ? ask("adder", { a: 1, b: 2 }) : { content: "Done." });
    modelCalls = 0;
    const { runId } = await start(tenant);
    await admitWaitingRuns(world, null, 1_000);
    expect(await world.engine.executeSegment(runId, { acts: 1 })).toBe("paused");
    const beside = await createWorld({ beside: world, models: world.models, prices: dearer });
    expect(await beside.engine.executeSegment(runId)).toBe("ended");
    await beside.close();
    const done = await read(runId);
    // Two model calls at 0.014 and one action at 0.01; the child's action at 0.01.
    expect(done).toMatchObject({ status: "Completed", output: "Done." });
    expect(done.creditsUsed.toString()).toBe("0.038");
    const child = await world.db.run.findUniqueOrThrow({ where: { id: done.steps[0]?.childRunId ?? "" } });
    expect(child.creditsUsed.toString()).toBe("0.01");
    const { runId: later } = await startRun(
      { ...world, prices: dearer },
      { kind: "operator", orgId: tenant.orgId, name: "test" },
      { kind: "tool", targetId: tenant.toolId, input: { a: 1, b: 2 } },
    );
    await executeRun(world, later);
    expect((await read(later)).creditsUsed.toString()).toBe("1");
    await expectSoundLedger(world, tenant);
  });
});

describe("crashes", () => {
  it("continue behind the last finished row, wherever the process dies, and charge nothing twice", async () => {
    const tenant = await createTenant(world);
    const play: Script = (request) => {
      const answered = request.messages.filter(({ role }) => role === "tool").length;
      if (answered === 2) return ask("calculate", { expression: "3+3" });
      if (answered === 3) return { content: "All done." };
      const two = [
        ...ask("calculate", { expression: "1+1" }, "a").toolCalls,
        ...ask("adder", { a: 2, b: 3 }, "b").toolCalls,
      ];
      return { content: "", toolCalls: two };
    };
    const clean = await run(tenant, "Go", play);
    const beside = await createWorld({ beside: world, models: world.models });
    let dieAt = 1;
    for (let died = true; died; dieAt += 1) {
      const { runId } = await start(tenant);
      await admitWaitingRuns(world, null, 1_000);
      await dieBeforeWrite(beside, dieAt);
      const result = await beside.engine.executeSegment(runId).catch((error: unknown) => {
        expect(error).toBeInstanceOf(WorkerLost);
      });
      died = result !== "ended";
      if (died) await executeRun(world, runId);
      const done = await read(runId);
      expect(done).toMatchObject({
        status: "Completed",
        output: "All done.",
        stepsExecuted: 3,
        actionsUsed: 3,
      });
      expect(done.creditsUsed.toString()).toBe(clean.creditsUsed.toString());
      expect(done.steps.map(({ output }) => output)).toEqual(clean.steps.map(({ output }) => output));
    }
    expect(dieAt).toBeGreaterThan(8);
    await beside.close();
    await expectSoundLedger(world, tenant);
  });

  /** Replaces a worker when it is about to write its `count`-th row, child, hold or end. */
  async function dieBeforeWrite(victim: World, count: number): Promise<void> {
    const { journal, accounts } = await victim.engine.worker();
    let left = count;
    const wrap = <Item extends unknown[], Answer>(write: (...item: Item) => Promise<Answer>) => {
      return async (...item: Item): Promise<Answer> => {
        left -= 1;
        if (left === 0) await replaceWorker(victim);
        return write(...item);
      };
    };
    journal.row = wrap(journal.row.bind(journal));
    journal.child = wrap(journal.child.bind(journal));
    accounts.hold = wrap(accounts.hold.bind(accounts));
    accounts.end = wrap(accounts.end.bind(accounts));
  }
});

describe("cancel", () => {
  it("ends a pending run at once, twice is the same, and leaves ended runs alone", async () => {
    const tenant = await createTenant(world);
    const { runId } = await start(tenant);
    expect(await cancelRun(world, tenant.orgId, { runId, by: "Ada" })).toBe(true);
    expect(await cancelRun(world, tenant.orgId, { runId, by: "Bob" })).toBe(true);
    expect(await read(runId)).toMatchObject({ status: "Cancelled", cancelledBy: "Ada", errorMessage: null });
    await expectSoundLedger(world, tenant);
    const stranger = await createTenant(world);
    expect(await cancelRun(world, stranger.orgId, { runId, by: "Eve" })).toBe(false);
  });

  it("aborts the model call of a running run and charges what was used", async () => {
    const tenant = await createTenant(world);
    const cancelled = await run(tenant, "Hi", async (request, call) => {
      if (call === 1) return ask("calculate", { expression: "1+1" });
      const open = await world.db.run.findFirstOrThrow({
        where: { organizationId: tenant.orgId, status: "Running" },
      });
      const aborted = new Promise<never>((_resolve, reject) => {
        request.signal.addEventListener("abort", () => reject(request.signal.reason));
      });
      await cancelRun(world, tenant.orgId, { runId: open.id, by: "Ada" });
      return aborted;
    });
    expect(cancelled).toMatchObject({
      status: "Cancelled",
      cancelledBy: "Ada",
      stepsExecuted: 1,
      errorMessage: null,
    });
    expect(cancelled.creditsUsed.toString()).toBe("0.024");
    await expectSoundLedger(world, tenant);
  });

  it("takes the open child along", async () => {
    const tenant = await createTenant(world, { agent: { functions: [] } });
    await setWriter(tenant);
    const done = await run(tenant, "Hi", async (request) => {
      if (request.messages.every(({ content }) => content !== "write")) return ask("adder", {});
      const root = await world.db.run.findFirstOrThrow({
        where: { organizationId: tenant.orgId, parentRunId: null },
      });
      const aborted = new Promise<never>((_resolve, reject) => {
        request.signal.addEventListener("abort", () => reject(request.signal.reason));
      });
      await cancelRun(world, tenant.orgId, { runId: root.id, by: "Ada" });
      return aborted;
    });
    expect(done).toMatchObject({ status: "Cancelled", cancelledBy: "Ada", steps: [{ status: "Failed" }] });
    const child = await world.db.run.findFirstOrThrow({ where: { parentRunId: done.id } });
    expect(child).toMatchObject({ status: "Cancelled", cancelledBy: "Ada" });
    await expectSoundLedger(world, tenant);
  });
});

describe("terminal rows", () => {
  it("are frozen by the database itself", async () => {
    const tenant = await createTenant(world);
    const done = await run(tenant, "Hi", () => ({ content: "Hello!" }));
    for (const change of [
      "output = 'x'",
      "status = 'Running'",
      "credits_used = 9",
      "finished_at = now()",
      "epoch = 99",
    ]) {
      await expect(world.pool.query(`UPDATE runs SET ${change} WHERE id = $1`, [done.id])).rejects.toThrow(
        /frozen/,
      );
    }
  });
});
