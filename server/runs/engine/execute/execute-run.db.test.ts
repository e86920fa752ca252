import { describe, expect, it, vi } from "vitest";
import { Decimal } from "@/server/base/amount";
import { HOUR_MS } from "@/server/base/clock";
import { authenticateKey } from "@/server/catalog/auth/authenticate-key";
import { startRun } from "@/server/runs/start";
import { ModelError } from "@/server/work/models/port";
import { ask, openScriptedWorld, type Script } from "@/testing/engine/scripted-world";
import { executeRun, executeSegment, replaceWorker } from "@/testing/execute";
import { expectSoundLedger } from "@/testing/ledger";
import { createTenant, createWorld, type World } from "@/testing/world";
import { admitWaitingRuns } from "../claim";
import { WorkerLost } from "../write/writer";

const { world, play, modelCalls, start, read, run } = await openScriptedWorld();

describe("agent runs", () => {
  it("answers at once", async () => {
    const tenant = await createTenant(world);
    const done = await run(tenant, "Hi", () => ({ content: "Hello!" }));
    expect(done).toMatchObject({ status: "Completed", output: "Hello!", stepsExecuted: 0, actionsUsed: 0 });
    expect(done.inputTokens + done.outputTokens).toBe(110);
    expect(done.creditsUsed.toString()).toBe("0.014");
    await expectSoundLedger(world, tenant);
  });

  it("calls many functions at once without a warning of a leak", async () => {
    const warnings: Error[] = [];
    const onWarning = (warning: Error) => void warnings.push(warning);
    process.on("warning", onWarning);
    const tenant = await createTenant(world);
    // Every model call waits until all have started.
    let answer = (_reply: { content: string }) => {};
    const answered = new Promise<{ content: string }>((resolve) => {
      answer = resolve;
    });
    play((_request, call) => {
      if (call === 20) answer({ content: "Done." });
      return answered;
    });
    const each = { id: "each", uses: "generate_text", with: { prompt: "Hi" }, concurrency: 20 };
    const steps = [{ ...each, forEach: "{{ [1..20] }}", as: "n" }];
    const definition = JSON.stringify({ parameters: { type: "object" }, steps });
    await world.db.toolVersion.updateMany({ where: { toolId: tenant.toolId }, data: { definition } });
    const target = { kind: "tool", targetId: tenant.toolId, input: {} } as const;
    const { runId } = await startRun(world, await authenticateKey(world, tenant.key), target);
    await executeRun(world, runId);
    const done = await read(runId);
    process.off("warning", onWarning);
    expect(done).toMatchObject({ status: "Completed", stepsExecuted: 20 });
    expect(warnings).toEqual([]);
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

  it("cuts outputs that are over 16 MiB together, also of calls that end at the same time", async () => {
    const functions = ["generate_text"];
    const tenant = await createTenant(world, { credits: "100000", agent: { functions } });
    const toolCalls = Array.from({ length: 20 }, (_, index) => ({
      id: `c${index}`,
      name: "generate_text",
      arguments: JSON.stringify({ prompt: `${index}` }),
    }));
    let end = () => {};
    const ended = new Promise<void>((resolve) => {
      end = resolve;
    });
    const done = await run(tenant, "Much", async (_request, nth) => {
      if (nth === 1) return { toolCalls };
      if (nth === 22) return { content: "Much." };
      if (nth === 21) end();
      await ended;
      // As JSON twice as long, so that the answers stay below their own limit.
      return { content: "\n".repeat(500_000) };
    });
    const sizes = done.steps.map((step) => step.output?.length ?? 0);
    expect(sizes.filter((size) => size === 1_000_002)).toHaveLength(16);
    const cut = done.steps.find((step) => (step.output?.length ?? 0) < 1_000_000);
    expect(JSON.parse(cut?.output ?? "")).toMatchObject({ truncated: true, bytes: 1_000_002 });
    expect(done).toMatchObject({ status: "Completed", output: "Much." });
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
      throw new ModelError("The provider says no.", { reason: "rejected", attempts: [] });
    });
    expect(failed).toMatchObject({
      status: "Failed",
      errorMessage: "The provider says no.",
      stepsExecuted: 1,
    });
    expect(failed.creditsUsed.toString()).toBe("0.024");
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

  it("complete in a process whose own clock is set, before their claim or during a call", async () => {
    const tenant = await createTenant(world);
    const startedAt = world.clock.now().getTime();
    const now = vi.spyOn(world.clock, "now");
    const setClock = (ms: number) => void now.mockImplementation(() => new Date(startedAt + ms));
    play((_request, call) => {
      setClock(-2 * HOUR_MS);
      return call === 1 ? ask("calculate", { expression: "1+1" }) : { content: "2" };
    });
    const { runId } = await start(tenant);
    setClock(2 * HOUR_MS);
    await executeRun(world, runId).finally(() => now.mockRestore());
    expect(await read(runId)).toMatchObject({ status: "Completed", output: "2" });
  });

  it("fail at once when they are taken over after their deadline", async () => {
    const tenant = await createTenant(world);
    play(() => ask("calculate", { expression: "1+1" }));
    const { runId } = await start(tenant);
    await admitWaitingRuns(world, { worker: null, slots: 1_000 });
    expect(await executeSegment(world, runId, { calls: 2 })).toBe("paused");
    world.clock.advance(901_000);
    expect(await executeSegment(world, runId)).toBe("ended");
    expect(modelCalls()).toBe(1);
    expect(await read(runId)).toMatchObject({
      status: "Failed",
      errorCode: "deadline_exceeded",
      stepsExecuted: 1,
    });
    await expectSoundLedger(world, tenant);
  });
});

describe("prices", () => {
  it("are those of the start, though the run is executed under another price list, children too", async () => {
    const tenant = await createTenant(world);
    const dearer = {
      models: { "gpt-5-mini": { input: new Decimal(50), output: new Decimal(50) } },
      defaultModel: { input: new Decimal(50), output: new Decimal(50) },
      action: new Decimal(1),
    };
    play((_request, call) => (call === 1 ? ask("adder", { a: 1, b: 2 }) : { content: "Done." }));
    const { runId } = await start(tenant);
    await admitWaitingRuns(world, { worker: null, slots: 1_000 });
    expect(await executeSegment(world, runId, { calls: 1 })).toBe("paused");
    const beside = await createWorld({ beside: world, models: world.models, prices: dearer });
    expect(await executeSegment(beside, runId)).toBe("ended");
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
      await admitWaitingRuns(world, { worker: null, slots: 1_000 });
      await dieBeforeWrite(beside, dieAt);
      const result = await executeSegment(beside, runId).catch((error: unknown) => {
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
