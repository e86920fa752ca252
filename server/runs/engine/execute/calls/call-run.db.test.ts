import { randomUUID } from "node:crypto";
import { describe, expect, it, vi } from "vitest";
import type { JsonObject } from "@/server/base/json/json";
import { cancelRun } from "@/server/runs/cancel";
import { calledRunId } from "@/server/runs/engine/called-run";
import { admitWaitingRuns } from "@/server/runs/engine/claim";
import { planFork } from "@/server/runs/fork/plan-fork";
import { startFork } from "@/server/runs/fork/start-fork";
import { rerun } from "@/server/runs/rerun";
import { startRun } from "@/server/runs/start";
import { ModelError, type ModelReply, type ModelRequest } from "@/server/work/models/port";
import { executeRun, executeSegment } from "@/testing/execute";
import { expectSoundLedger } from "@/testing/ledger";
import { createMember } from "@/testing/runs";
import { insertTool } from "@/testing/tools";
import {
  createTenant,
  createTrigger,
  openWorld,
  scriptedModels,
  setAgent,
  type Tenant,
} from "@/testing/world";

let play: (request: ModelRequest) => Partial<ModelReply> | Promise<Partial<ModelReply>>;
const world = await openWorld({
  models: scriptedModels((request) => play(request)),
});

const read = (id: string) =>
  world.db.run.findUniqueOrThrow({
    where: { id },
    include: { steps: { orderBy: { stepNumber: "asc" } }, children: { orderBy: { id: "asc" } } },
  });
const operator = ({ orgId }: Tenant) => ({ kind: "operator", orgId, name: "test" }) as const;

async function start(tenant: Tenant, definition: JsonObject, slug = "caller"): Promise<string> {
  const targetId = await insertTool(world, tenant, { slug, definition });
  return (await startRun(world, operator(tenant), { kind: "tool", targetId, input: {} })).runId;
}

const call = (tool: string, input: JsonObject = {}, fields: JsonObject = {}): JsonObject => ({
  id: "call",
  uses: "run_tool",
  with: { tool, input },
  ...fields,
});

describe("run_tool", () => {
  it("runs a tool as a linked child on the caller's credits, as one step and one action", async () => {
    const tenant = await createTenant(world);
    const runId = await start(tenant, { steps: [call("adder", { a: 1, b: 2 })] });
    expect(await executeRun(world, runId)).toBe("ended");
    const done = await read(runId);
    expect(done).toMatchObject({
      status: "Completed",
      output: '{"sum":3}',
      actionsUsed: 1,
      stepsExecuted: 1,
    });
    const [child] = done.children;
    expect(child).toMatchObject({
      status: "Completed",
      toolId: tenant.toolId,
      rootRunId: runId,
      source: "run",
      input: '{"a":1,"b":2}',
    });
    expect(done.steps[0]).toMatchObject({ childRunId: child?.id, toolName: "run_tool" });
    await expectSoundLedger(world, tenant);
  });

  it.each([
    ["an unknown tool", call("nope"), "unknown_tool", 'There is no tool "nope". Known tools: adder, caller.'],
    ["invalid arguments", call("adder", { a: "x" }), "invalid_arguments", "/a must be number"],
    [
      "an input that is not an object",
      { ...call("adder"), with: { tool: "adder", input: 3 } },
      "invalid_input",
      "must be an object",
    ],
  ])("fails for %s", async (_name, step, code, message) => {
    const tenant = await createTenant(world);
    const runId = await start(tenant, { steps: [{ ...step, onError: "continue" }] });
    await executeRun(world, runId);
    const output: unknown = JSON.parse((await read(runId)).output ?? "");
    expect(output).toMatchObject({ code, error: expect.stringContaining(message) });
  });

  it("does not find a tool of another organization", async () => {
    const tenant = await createTenant(world);
    const other = await createTenant(world);
    await insertTool(world, other, {
      slug: "theirs",
      definition: { steps: [{ id: "a", uses: "current_time" }] },
    });
    const runId = await start(tenant, { steps: [call("theirs", {}, { onError: "continue" })] });
    await executeRun(world, runId);
    expect((await read(runId)).output).toContain("unknown_tool");
  });

  it("repeats a failed run as a run of its own, as often as retries say", async () => {
    const tenant = await createTenant(world);
    const fails = { steps: [{ id: "a", uses: "calculate", with: { expression: "1/0" } }] };
    await insertTool(world, tenant, { slug: "fails", definition: fails });
    const retries = { count: 2, firstWaitMs: 0 };
    const runId = await start(tenant, { steps: [call("fails", {}, { retries })] });
    await executeRun(world, runId);
    const done = await read(runId);
    expect(done).toMatchObject({
      status: "Failed",
      errorMessage: expect.stringContaining("division by zero"),
    });
    expect(done.children).toHaveLength(3);
    expect(JSON.parse(done.steps[0]?.attempts ?? "")).toHaveLength(3);
    expect(done.steps[0]?.childRunId).toBe(calledRunId(runId, "call", 3));
    await expectSoundLedger(world, tenant);
  });

  it("stops at the depth limit", async () => {
    const tenant = await createTenant(world);
    const runId = await start(tenant, { steps: [call("caller")] });
    await executeRun(world, runId);
    expect(await read(runId)).toMatchObject({
      status: "Failed",
      errorMessage:
        'Step "call" failed: step "call": step "call": step "call": step "call": Runs may call each other at most 5 deep.',
    });
    const runs = await world.db.run.findMany({ where: { rootRunId: runId }, include: { steps: true } });
    expect(runs).toHaveLength(5);
    // The deepest step leads to no run.
    const children = runs.flatMap(({ steps }) => steps.flatMap(({ childRunId }) => childRunId ?? []));
    expect(new Set(children)).toEqual(new Set(runs.flatMap(({ id }) => (id === runId ? [] : id))));
    await expectSoundLedger(world, tenant);
  });

  it("continues with the child where it was when another worker takes over", async () => {
    const tenant = await createTenant(world);
    const prompts: string[] = [];
    play = ({ messages }) => {
      prompts.push(messages.at(-1)?.content ?? "");
      return { content: "text" };
    };
    const write = (id: string) => ({ id, uses: "generate_text", with: { prompt: id } });
    await insertTool(world, tenant, { slug: "inner", definition: { steps: [write("one"), write("two")] } });
    const runId = await start(tenant, { steps: [call("inner")] });
    await admitWaitingRuns(world, { worker: null, slots: 1_000 });
    expect(await executeSegment(world, runId, { calls: 2 })).toBe("paused");
    expect(prompts).toEqual(["one"]);
    expect(await executeSegment(world, runId)).toBe("ended");
    expect(prompts).toEqual(["one", "two"]);
    expect(await read(runId)).toMatchObject({ status: "Completed", children: [{ status: "Completed" }] });
    await expectSoundLedger(world, tenant);
  });
});

const delegates =
  (agent: string) =>
  (request: ModelRequest): Partial<ModelReply> =>
    request.messages.some(({ role, content }) => role === "tool" || content === "Question")
      ? { content: `Answer to ${request.messages.find(({ role }) => role === "user")?.content}` }
      : {
          content: "",
          toolCalls: [
            { id: "c", name: "run_agent", arguments: JSON.stringify({ agent, message: "Question" }) },
          ],
        };

/** Lets a tool's call of another target end in the middle, and returns the ids of both runs. */
async function pauseInChild(tenant: Tenant, step: JsonObject, calls: number) {
  const runId = await start(tenant, { steps: [{ ...step, onError: "continue" }] });
  await admitWaitingRuns(world, { worker: null, slots: 1_000 });
  expect(await executeSegment(world, runId, { calls })).toBe("paused");
  const [child] = (await read(runId)).children;
  if (child === undefined) throw new Error("no child run");
  expect(child).toMatchObject({ status: "Running", claimedBy: null });
  return { runId, childId: child.id };
}

// With its journal.
async function copyRun(runId: string, changes: JsonObject): Promise<string> {
  const id = randomUUID();
  const copy = (table: string, key: string) =>
    `INSERT INTO ${table} SELECT (jsonb_populate_record(t, $2::jsonb)).* FROM ${table} t WHERE ${key} = $1`;
  await world.pool.query(copy("runs", "id"), [runId, JSON.stringify({ ...changes, id })]);
  const rows = { id: randomUUID(), run_id: id };
  await world.pool.query(`${copy("model_calls", "run_id")} LIMIT 1`, [runId, JSON.stringify(rows)]);
  return id;
}

const askHelper = { id: "ask", uses: "run_agent", with: { agent: "helper", message: "Hi" } };
const calculatesFirst = ({ messages }: ModelRequest): Partial<ModelReply> =>
  messages.some(({ role }) => role === "tool")
    ? { content: "Three." }
    : { content: "", toolCalls: [{ id: "c", name: "calculate", arguments: '{"expression":"1+2"}' }] };

describe("a child run that waits while its target changes", () => {
  it("continues an agent's run that became inactive", async () => {
    const tenant = await createTenant(world);
    play = calculatesFirst;
    const { runId } = await pauseInChild(tenant, askHelper, 2);
    await world.db.agent.update({ where: { id: tenant.agentId }, data: { status: "inactive" } });
    expect(await executeSegment(world, runId)).toBe("ended");
    expect(await read(runId)).toMatchObject({
      status: "Completed",
      output: '{"output":"Three."}',
      children: [{ status: "Completed" }],
    });
    await expectSoundLedger(world, tenant);
  });

  it("continues a tool's run whose tool was deleted", async () => {
    const tenant = await createTenant(world);
    play = () => ({ content: "text" });
    const write = (id: string) => ({ id, uses: "generate_text", with: { prompt: id } });
    const definition = { steps: [write("one"), write("two")] };
    const targetId = await insertTool(world, tenant, { slug: "inner", definition });
    const { runId } = await pauseInChild(tenant, call("inner"), 2);
    await world.db.tool.update({ where: { id: targetId }, data: { deletedAt: new Date() } });
    expect(await executeSegment(world, runId)).toBe("ended");
    expect(await read(runId)).toMatchObject({
      status: "Completed",
      output: '"text"',
      children: [{ status: "Completed" }],
    });
    await expectSoundLedger(world, tenant);
  });

  it("ends with its caller if that does not call it again", async () => {
    const tenant = await createTenant(world);
    play = calculatesFirst;
    const { runId, childId } = await pauseInChild(tenant, askHelper, 2);
    const other = await copyRun(childId, {});
    expect(await executeSegment(world, runId)).toBe("ended");
    expect(await read(runId)).toMatchObject({ status: "Completed" });
    expect(await read(other)).toMatchObject({ status: "Failed", errorCode: "caller_ended" });
    await expectSoundLedger(world, tenant);
  });

  it("can be cancelled after its root, and is not charged", async () => {
    const tenant = await createTenant(world);
    play = calculatesFirst;
    const { runId, childId } = await pauseInChild(tenant, askHelper, 2);
    expect(await executeSegment(world, runId)).toBe("ended");
    const open = await copyRun(childId, {
      status: "Running",
      output: null,
      finished_at: null,
      claimed_by: null,
      credits_used: 0,
    });
    await cancelRun(world, tenant.orgId, { runId: open, by: "Ada" });
    const ended = await read(open);
    expect(ended).toMatchObject({ status: "Cancelled", cancelledBy: "Ada", inputTokens: 100 });
    expect(ended.creditsUsed.toString()).toBe("0");
    await expectSoundLedger(world, tenant);
  });
});

describe("run_agent", () => {
  it("gives a message to an agent and returns its answer, within its own cap", async () => {
    const tenant = await createTenant(world, { agent: { functions: ["run_agent"] } });
    play = delegates("helper");
    const request = { kind: "agent", targetId: tenant.agentId, userMessage: "Hi" } as const;
    const { runId } = await startRun(world, operator(tenant), request);
    await executeRun(world, runId);
    const done = await read(runId);
    expect(done).toMatchObject({
      status: "Completed",
      output: "Answer to Hi",
      children: [{ kind: "agent", status: "Completed", output: "Answer to Question" }],
    });
    expect(JSON.parse(done.steps[0]?.output ?? "")).toEqual({ output: "Answer to Question" });
    await expectSoundLedger(world, tenant);
  });

  it("returns the value if the agent has an output schema", async () => {
    const tenant = await createTenant(world);
    const outputSchema = { type: "object", required: ["n"] };
    await setAgent(world, tenant, { outputSchema });
    play = () => ({ content: '```\n{"n": [1, 2]}\n```' });
    const runId = await start(tenant, {
      steps: [{ id: "ask", uses: "run_agent", with: { agent: "helper", message: "Hi" } }],
      output: "{{ $sum(steps.ask.output.n) }}",
    });
    await executeRun(world, runId);
    expect(await read(runId)).toMatchObject({
      status: "Completed",
      output: "3",
      children: [{ kind: "agent", output: '{"n":[1,2]}' }],
    });
  });

  it("marks a message from outside for the agent when a webhook started the run", async () => {
    const tenant = await createTenant(world);
    const prompts: string[] = [];
    play = ({ messages }) => {
      prompts.push(messages[0]?.content ?? "");
      return { content: "Done." };
    };
    const definition = {
      steps: [{ id: "ask", uses: "run_agent", with: { agent: "helper", message: "{{ input.text }}" } }],
    };
    const targetId = await insertTool(world, tenant, { slug: "asks", definition });
    const { id: triggerId } = await createTrigger(world, tenant);
    const trigger = {
      kind: "trigger",
      orgId: tenant.orgId,
      triggerId,
      name: "In",
      maxCredits: null,
    } as const;
    const request = { kind: "tool", targetId, input: { text: "Hi" } } as const;
    const execute = async (started: Promise<{ runId: string }>) => {
      const { runId } = await started;
      await executeRun(world, runId);
      return runId;
    };
    const isMarked = () => prompts.splice(0).map((prompt) => prompt.includes("external system"));
    const runId = await execute(startRun(world, trigger, request));
    await execute(startRun(world, operator(tenant), request));
    expect(isMarked()).toEqual([true, false]);
    // What repeats the run has the same input, unless the caller changes it.
    const member = await createMember(world, tenant);
    const again = await execute(rerun(world, member, { runId }));
    await execute(rerun(world, member, { runId: again }));
    const fork = { runId: again, fromStep: 1, tools: "live", changes: {} } as const;
    await execute(startFork(world, member, { plan: await planFork(world, member, fork) }));
    await execute(rerun(world, member, { runId, input: '{"text":"Hello"}' }));
    expect(isMarked()).toEqual([true, true, true, false]);
    const message = { kind: "agent", targetId: tenant.agentId, userMessage: "Hi" } as const;
    const ofAgent = await execute(startRun(world, trigger, message));
    await execute(rerun(world, member, { runId: await execute(rerun(world, member, { runId: ofAgent })) }));
    expect(isMarked()).toEqual([true, true, true]);
  });

  it("rejects an inactive agent", async () => {
    const tenant = await createTenant(world, { agent: { status: "inactive" } });
    const step = {
      id: "ask",
      uses: "run_agent",
      with: { agent: "helper", message: "Hi" },
      onError: "continue",
    };
    const runId = await start(tenant, { steps: [step] });
    await executeRun(world, runId);
    expect((await read(runId)).output).toContain("agent_inactive");
  });

  it("is cancelled with its caller", async () => {
    const tenant = await createTenant(world);
    play = ({ signal }) =>
      new Promise((_resolve, reject) => {
        signal.addEventListener("abort", () => reject(signal.reason));
        void cancelRun(world, tenant.orgId, { runId, by: "Ada" }).then(() => world.engine.abort(runId));
      });
    const step = { id: "ask", uses: "run_agent", with: { agent: "helper", message: "Hi" } };
    const runId = await start(tenant, { steps: [step] });
    await executeRun(world, runId);
    expect(await read(runId)).toMatchObject({
      status: "Cancelled",
      cancelledBy: "Ada",
      children: [{ status: "Cancelled" }],
    });
    await expectSoundLedger(world, tenant);
  });

  it("is cancelled with its caller before its own row is written", async () => {
    const tenant = await createTenant(world);
    const { journal } = await world.engine.worker();
    let release = () => {};
    const aborted = new Promise<void>((resolve) => {
      release = resolve;
    });
    const write = journal.child.bind(journal);
    const delayed = vi.spyOn(journal, "child").mockImplementationOnce(async (row) => {
      await aborted;
      await write(row);
    });
    play = ({ signal }) =>
      new Promise((_resolve, reject) => {
        signal.addEventListener("abort", () => {
          reject(signal.reason);
          setImmediate(release);
        });
        void cancelRun(world, tenant.orgId, { runId, by: "Ada" });
      });
    const step = { id: "ask", uses: "run_agent", with: { agent: "helper", message: "Hi" } };
    const runId = await start(tenant, { steps: [step] });
    await executeRun(world, runId);
    expect(await read(runId)).toMatchObject({ status: "Cancelled", children: [{ status: "Cancelled" }] });
    delayed.mockRestore();
  });

  it("fails the step, not the run, when the agent's run takes too long", async () => {
    const tenant = await createTenant(world);
    play = ({ signal }) =>
      new Promise((_resolve, reject) => {
        if (signal.aborted) reject(signal.reason);
        signal.addEventListener("abort", () => reject(signal.reason));
      });
    const step = { id: "ask", uses: "run_agent", with: { agent: "helper", message: "Hi" }, timeoutMs: 50 };
    const runId = await start(tenant, { steps: [{ ...step, onError: "continue" }] });
    await executeRun(world, runId);
    const done = await read(runId);
    expect(done).toMatchObject({ status: "Completed", children: [{ status: "Failed" }] });
    expect(JSON.parse(done.output ?? "")).toMatchObject({ code: "timeout" });
    await expectSoundLedger(world, tenant);
  });

  it("gives each attempt the time limit of the step", async () => {
    const tenant = await createTenant(world);
    let asked = 0;
    play = () => {
      asked += 1;
      if (asked > 1) return { content: "Done." };
      world.clock.advance(30_001);
      throw new ModelError("No.", { reason: "rejected", attempts: [] });
    };
    const limited = { ...askHelper, timeoutMs: 30_000, retries: { count: 1, firstWaitMs: 0 } };
    const runId = await start(tenant, { steps: [limited] });
    await executeRun(world, runId);
    expect(await read(runId)).toMatchObject({ status: "Completed", output: '{"output":"Done."}' });
  });
});
