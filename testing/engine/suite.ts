import { describe, expect, it } from "vitest";
import type { JsonObject } from "@/server/base/json/json";
import { sleep } from "@/server/base/sleep";
import { cancelRun } from "@/server/runs/cancel";
import { removeWorker } from "@/server/runs/engine/worker";
import { startRun } from "@/server/runs/start";
import type { ModelRequest } from "@/server/work/models/port";
import { insertTool } from "@/testing/tools";
import { createTenant } from "@/testing/world";
import { type ModelAnswer, openStage, type Stage } from "./stage";

const MODEL_MS = 150;

function hang({ signal }: ModelRequest): Promise<ModelAnswer> {
  return new Promise((_resolve, reject) => {
    signal.addEventListener("abort", () => reject(signal.reason), { once: true });
  });
}

const calculate = (id: string): ModelAnswer => ({
  toolCalls: [{ id, name: "calculate", arguments: '{"expression":"1+1"}' }],
});
const adder: ModelAnswer = { toolCalls: [{ id: "a", name: "adder", arguments: '{"a":1,"b":2}' }] };

/** The tests of an engine, the same for every driver. */
export async function describeEngine(stage: Stage): Promise<void> {
  const { world, calls, startProcess, start, ended } = await openStage(stage);

  describe("a run", () => {
    it("executes its model calls and steps in order, each once", async () => {
      const tenant = await createTenant(world);
      const services = await startProcess((call) => (call <= 2 ? calculate(`c${call}`) : { content: "2" }));
      const run = await ended(await start(services, tenant));
      expect(run).toMatchObject({
        status: "Completed",
        output: "2",
        stepsExecuted: 2,
        held: expect.anything(),
      });
      expect(run.held.isZero()).toBe(true);
      expect(run.modelCalls.map(({ key }) => key)).toEqual(["think-1", "think-2", "think-3"]);
      expect(run.steps.map(({ key, output }) => [key, output])).toEqual([
        ["call-1-1", "2"],
        ["call-2-1", "2"],
      ]);
      const sequences = [...run.modelCalls, ...run.steps]
        .map(({ sequence }) => sequence)
        .sort((a, b) => a - b);
      expect(new Set(sequences).size).toBe(5);
      expect(run.sequence).toBeGreaterThan(sequences.at(-1) ?? 0);
      expect(calls()).toBe(3);
    });

    it("executes all of many runs that are started at the same time, each once", async () => {
      const tenant = await createTenant(world);
      const services = await startProcess(() => ({}));
      const runIds = await Promise.all(Array.from({ length: 20 }, () => start(services, tenant)));
      for (const runId of runIds) expect((await ended(runId)).status).toBe("Completed");
      expect(calls()).toBe(20);
      const { inFlight } = await world.db.organization.findUniqueOrThrow({ where: { id: tenant.orgId } });
      expect(inFlight).toBe(0);
    });

    it("executes a tool as a child run on its own slot and hold", async () => {
      const tenant = await createTenant(world, { plan: { concurrency: 1 } });
      const services = await startProcess((call) => (call === 1 ? adder : { content: "3" }));
      const run = await ended(await start(services, tenant));
      expect(run).toMatchObject({ status: "Completed", output: "3" });
      expect(run.children).toMatchObject([{ status: "Completed", output: '{"sum":3}', source: "run" }]);
      expect(run.steps.map(({ childRunId }) => childRunId)).toEqual(run.children.map(({ id }) => id));
    });

    it("executes runs that call each other five deep, each call once", async () => {
      const tenant = await createTenant(world);
      const step = (id: string, uses: string, input: JsonObject) => ({ id, uses, with: input });
      // The agent calls `adder`, which calls three tools, one within the other.
      await insertTool(world, tenant, {
        slug: "fifth",
        definition: {
          steps: [
            step("sum", "calculate", { expression: "1 + 2" }),
            step("text", "generate_text", { prompt: "Say it." }),
          ],
          output: "{{ steps.text }}",
        },
      });
      for (const [slug, called] of [
        ["fourth", "fifth"],
        ["third", "fourth"],
      ] as const) {
        const definition = {
          steps: [
            step("before", "current_time", {}),
            { ...step("each", "run_tool", { tool: called }), forEach: "{{ [1, 2] }}" },
          ],
          output: "{{ steps.each[1] }}",
        };
        await insertTool(world, tenant, { slug, definition });
      }
      await world.db.toolVersion.updateMany({
        where: { toolId: tenant.toolId },
        data: {
          definition: JSON.stringify({
            parameters: { type: "object" },
            steps: [step("call", "run_tool", { tool: "third" })],
            output: "{{ steps.call }}",
          }),
        },
      });
      const services = await startProcess((_call, { messages }) => {
        const [last] = messages.slice(-1);
        if (last?.content === "Say it.") return { content: "said" };
        return last?.role === "tool"
          ? { content: last.content }
          : { toolCalls: [{ id: "a", name: "adder", arguments: "{}" }] };
      });
      const run = await ended(await start(services, tenant));
      expect(run).toMatchObject({ status: "Completed", output: '"said"', stepsExecuted: 1 });
      const all = await world.db.run.findMany({ where: { rootRunId: run.id }, include: { steps: true } });
      // The agent, adder, third, two times fourth, four times fifth.
      expect(all.map(({ status }) => status)).toEqual(Array.from({ length: 9 }, () => "Completed"));
      expect(all.flatMap(({ steps }) => steps)).toHaveLength(1 + 1 + 3 + 2 * 3 + 4 * 2);
      expect(calls()).toBe(2 + 4);
    });

    it("leaves its slot to another run while it waits, and continues at its time", async () => {
      const tenant = await createTenant(world, { plan: { concurrency: 1 } });
      const services = await startProcess(() => ({ content: "meanwhile" }));
      const definition = { steps: [{ id: "pause", uses: "wait", with: { seconds: 3 } }] };
      const targetId = await insertTool(world, tenant, { slug: "waits", definition });
      const actor = { kind: "operator", orgId: tenant.orgId, name: "test" } as const;
      const { runId } = await startRun(services, actor, { kind: "tool", targetId, input: {} });
      const meanwhile = await ended(await start(services, tenant));
      const run = await ended(runId);
      expect([meanwhile, run].map(({ status }) => status)).toEqual(["Completed", "Completed"]);
      expect(Number(meanwhile.finishedAt)).toBeLessThan(Number(run.finishedAt));
      expect(Number(run.finishedAt) - Number(run.startedAt)).toBeGreaterThanOrEqual(3_000);
      expect(run.steps).toMatchObject([{ key: "pause", status: "Completed" }]);
    });
  });

  describe("a platform error", () => {
    it("of the platform is retried; what was finished is not done again", async () => {
      const tenant = await createTenant(world);
      const services = await startProcess((call) => {
        if (call === 1) return adder;
        if (call === 2) throw new Error("an error of the platform");
        return { content: "3" };
      });
      const run = await ended(await start(services, tenant));
      expect(run).toMatchObject({ status: "Completed", output: "3", stepsExecuted: 1 });
      expect(run.children).toHaveLength(1);
      expect(calls()).toBe(3);
    });

    it("of the platform in a child run is retried as well", async () => {
      const tenant = await createTenant(world);
      const definition = {
        parameters: { type: "object" },
        steps: [
          { id: "sum", uses: "calculate", with: { expression: "1 + 2" } },
          { id: "text", uses: "generate_text", with: { prompt: "Say it." } },
        ],
        output: { text: "{{ steps.text }}" },
      };
      await world.db.toolVersion.updateMany({
        where: { toolId: tenant.toolId },
        data: { definition: JSON.stringify(definition) },
      });
      const services = await startProcess((call) => {
        return call === 1
          ? { toolCalls: [{ id: "a", name: "adder", arguments: "{}" }] }
          : { content: "Said." };
      });
      // The child's first end fails.
      let failures = 1;
      let rootId = "";
      const { accounts } = await services.engine.worker();
      const end = accounts.end.bind(accounts);
      accounts.end = (item, rows) => {
        if (rootId === "" || item.run === rootId || failures === 0) return end(item, rows);
        failures -= 1;
        return Promise.reject(new Error("an error of the platform"));
      };
      rootId = await start(services, tenant);
      const run = await ended(rootId);
      expect(run).toMatchObject({ status: "Completed", output: "Said." });
      expect(run.children).toMatchObject([{ status: "Completed", stepsExecuted: 2 }]);
      expect(failures).toBe(0);
    });

    it("of the worker hands its runs to another process, which continues where they were", async () => {
      const tenant = await createTenant(world);
      // The first process may be the one that continues, with a new worker.
      const first = await startProcess((call, request) => {
        if (call === 2) return hang(request);
        return call === 1 ? calculate("c1") : { content: "2" };
      });
      const runId = await start(first, tenant);
      await expect.poll(calls, { timeout: 30_000 }).toBe(2);
      const workerId = (await first.engine.worker()).id;
      const second = await startProcess(() => ({ content: "2" }));
      await removeWorker(world.pool, workerId);
      second.engine.wake();
      const run = await ended(runId);
      expect(run).toMatchObject({ status: "Completed", output: "2", stepsExecuted: 1 });
      expect(run.claimedBy).not.toBe(workerId);
      // The first process learned that its worker was replaced, and its call was aborted.
      await expect.poll(() => first.engine.find(runId)).toBeUndefined();
      expect(calls()).toBe(3);
    });
  });

  describe("an end from outside", () => {
    it("by a cancel in another process aborts the call in flight", async () => {
      const tenant = await createTenant(world);
      const services = await startProcess((_call, request) => hang(request));
      const other = await startProcess(() => ({}));
      stage.serve(services);
      const runId = await start(services, tenant);
      await expect.poll(calls, { timeout: 30_000 }).toBe(1);
      await cancelRun(other, tenant.orgId, { runId, by: "Ada" });
      const run = await ended(runId);
      expect(run).toMatchObject({ status: "Cancelled", cancelledBy: "Ada" });
      // The call itself would never end. The contract allows 30 s.
      expect(Number(run.finishedAt) - Number(run.cancelRequestedAt)).toBeLessThan(10_000);
      expect(calls()).toBe(1);
    });

    it("by its deadline aborts the call in flight", async () => {
      const tenant = await createTenant(world);
      await world.db.agentVersion.updateMany({
        where: { agentId: tenant.agentId },
        data: { deadlineSeconds: 1 },
      });
      const services = await startProcess((_call, request) => hang(request));
      const run = await ended(await start(services, tenant));
      expect(run).toMatchObject({ status: "Failed", errorCode: "deadline_exceeded" });
      // Clocks may differ by milliseconds.
      expect(Number(run.finishedAt) - Number(run.startedAt)).toBeGreaterThan(900);
      // Generous: the call itself would never end.
      expect(Number(run.finishedAt) - Number(run.startedAt)).toBeLessThan(10_000);
    });
  });

  it("an organization with all slots yields one to the run of another organization", async () => {
    const [long, short] = [await createTenant(world, { agent: { maxSteps: 12 } }), await createTenant(world)];
    let isWaiting = false;
    let isOver = false;
    const services = await startProcess(
      async (call, { messages }) => {
        if (messages.some(({ content }) => content === "Short")) return { content: "short" };
        await expect.poll(() => isWaiting).toBe(true);
        // The two runs hold all slots: the other one executes only if one of them yields between two calls.
        if (isOver) return { content: "long" };
        await sleep(MODEL_MS);
        return calculate(`c${call}`);
      },
      { STEPWELL_SLOTS: "2" },
    );
    const longIds = [await start(services, long), await start(services, long)];
    const shortId = await start(services, short, "Short");
    isWaiting = true;
    const shortRun = await ended(shortId);
    isOver = true;
    const longRuns = [await ended(longIds[0] ?? ""), await ended(longIds[1] ?? "")];
    expect(shortRun.output).toBe("short");
    expect(longRuns.map(({ output }) => output)).toEqual(["long", "long"]);
    const yielded = longRuns.filter(({ yieldedAt }) => yieldedAt.length > 0);
    // An Inngest server may call more runs than there are slots, so that none has to yield.
    if (services.env.inngest === undefined) expect(yielded).toHaveLength(1);
  });
  it("seventy long runs delay another organization's run by no more than two of their steps", async () => {
    const [long, short] = [await createTenant(world, { agent: { maxSteps: 12 } }), await createTenant(world)];
    const slots = 10;
    let callsBefore = Number.NaN;
    let callsAtStart = Number.NaN;
    const services = await startProcess(
      async (call, { messages }) => {
        if (messages.some(({ content }) => content === "Short")) {
          callsAtStart = call;
          return { content: "short" };
        }
        if (callsAtStart > 0) return { content: "long" };
        await sleep(MODEL_MS);
        return calculate(`c${call}`);
      },
      { STEPWELL_SLOTS: String(slots) },
    );
    const longIds = await Promise.all(Array.from({ length: 70 }, () => start(services, long)));
    await expect.poll(calls, { timeout: 30_000 }).toBeGreaterThan(2 * slots);
    const shortId = await start(services, short, "Short");
    callsBefore = calls();
    expect((await ended(shortId)).output).toBe("short");
    // Those in progress, and two more for each slot.
    expect(callsAtStart - callsBefore).toBeLessThanOrEqual(3 * slots);
    for (const runId of longIds) expect((await ended(runId)).output).toBe("long");
  });
}
