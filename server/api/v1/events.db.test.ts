import { describe, expect, it, onTestFinished, vi } from "vitest";
import type { JsonObject } from "@/server/base/json/json";
import { MIB } from "@/server/contract/sizes";
import { ProcessMemory } from "@/server/guard/limits/process-memory";
import { cancelRun } from "@/server/runs/cancel";
import { RunTexts } from "@/server/runs/live/run-texts";
import { startRun } from "@/server/runs/start";
import type { ModelReply, ModelRequest } from "@/server/work/models/port";
import { type ReadEvent, readEvents } from "@/testing/event-reader";
import { executeRun } from "@/testing/execute";
import { insertRun } from "@/testing/runs";
import { insertTool } from "@/testing/tools";
import { createTenant, openWorld, scriptedModels, type Tenant } from "@/testing/world";
import { handleRest } from "../rest";

let play: (request: ModelRequest) => Promise<Partial<ModelReply>> = async () => ({ content: "ok" });
const world = await openWorld({ models: scriptedModels((request) => play(request)) });
const other = await openWorld({ beside: world });
const tenant = await createTenant(world);
const operator = { kind: "operator", orgId: tenant.orgId, name: "test" } as const;

type Ask = { key?: string; headers?: Record<string, string>; process?: typeof world; signal?: AbortSignal };

function open(path: string, { key = tenant.key, headers = {}, process = world, signal }: Ask = {}) {
  const init = { headers: { "X-API-Key": key, ...headers }, ...(signal && { signal }) };
  return handleRest(process, new Request(`http://stepwell.test${path}`, init));
}
const follow = async (path: string, parts?: Ask) => readEvents(await (await open(path, parts)).text());

let tools = 0;
async function startTool(steps: JsonObject[]): Promise<string> {
  tools += 1;
  const targetId = await insertTool(world, tenant, { slug: `tool-${tools}`, definition: { steps } });
  return (await startRun(world, operator, { kind: "tool", targetId, input: {} })).runId;
}
const set = (id: string, more: JsonObject = {}) => ({
  id,
  uses: "calculate",
  with: { expression: "1 + 1" },
  ...more,
});
const pathOf = (runId: string, kind = "tool") => `/v1/${kind}s/run/${runId}/events`;
const numbers = (events: ReadEvent[]) => events.flatMap(({ id }) => (id === null ? [] : [id]));
const upTo = (n: number) => Array.from({ length: n }, (_, i) => i + 1);

describe("the events of a tool run", () => {
  it("are numbered from 1 without gaps, and the last one has the status", async () => {
    const runId = await startTool([set("one"), set("two", { if: "false" }), set("three")]);
    await executeRun(world, runId);
    const events = await follow(`${pathOf(runId)}?since=0`);
    expect(numbers(events)).toEqual(upTo(events.length));
    expect(events.map(({ name, data }) => [name, data.toolName ?? null, data.status ?? null])).toEqual([
      // The tests' engine takes runs that wait.
      ["run.waiting", null, null],
      ["run.running", null, null],
      ["step.started", "calculate", null],
      ["step.completed", "calculate", "Completed"],
      ["step.completed", "calculate", "Skipped"],
      ["step.started", "calculate", null],
      ["step.completed", "calculate", "Completed"],
      ["run.completed", null, "Completed"],
    ]);
    expect(events.at(-1)?.data).toMatchObject({ id: runId, statusInt: 2 });
  });

  it("begin with a snapshot, after which only the end follows", async () => {
    const runId = await startTool([set("one"), set("two")]);
    await executeRun(world, runId);
    const events = await follow(pathOf(runId));
    expect(events.map(({ name, id }) => [name, id])).toEqual([
      ["snapshot", 6],
      ["run.completed", 7],
    ]);
    expect(events[0]?.data).toMatchObject({
      id: runId,
      steps: [{ outputData: "2" }, { outputData: "2" }],
    });
  });

  it("continue after any number, in another process, without a gap or a repetition", async () => {
    const runId = await startTool([set("each", { forEach: "[1..120]" })]);
    await executeRun(world, runId);
    const all = await follow(`${pathOf(runId)}?since=0`);
    expect(numbers(all)).toEqual(upTo(243));
    for (const from of [1, 99, 100, 101, 200, 242]) {
      const rest = await follow(pathOf(runId), {
        process: other,
        headers: { "Last-Event-ID": String(from) },
      });
      expect(rest).toEqual(all.slice(from));
    }
  });

  it("are 204 for a reader that has the last one, or a later one", async () => {
    const runId = await startTool([set("one")]);
    await executeRun(world, runId);
    const end = (await follow(pathOf(runId))).at(-1)?.id ?? 0;
    const ids = [String(end), String(end + 1), `${end}(3.1:1)`];
    const asked = [
      open(`${pathOf(runId)}?since=${end}`),
      ...ids.map((id) => open(`${pathOf(runId)}?children=true`, { headers: { "Last-Event-ID": id } })),
    ];
    for (const answer of await Promise.all(asked)) {
      expect([answer.status, answer.body]).toEqual([204, null]);
      expect(answer.headers.get("Content-Type")).toBeNull();
      expect(answer.headers.get("RateLimit")).not.toBeNull();
    }
    expect(numbers(await follow(`${pathOf(runId)}?since=${end - 1}`))).toEqual([end]);
  });

  it("tell of a run that waits for a slot, is cancelled, and of its open step", async () => {
    const runId = await insertRun(world, tenant, { status: "Pending" });
    await cancelRun(world, tenant.orgId, { runId, by: "Ada" });
    expect(await follow(`${pathOf(runId)}?since=0`)).toMatchObject([
      { id: 1, name: "run.waiting", data: { reason: "slot" } },
      { id: 2, name: "run.cancelled", data: { status: "Failed", errorMessage: "Cancelled by Ada." } },
    ]);
  });

  it("come while the run executes, each once", async () => {
    let go = () => {};
    const gate = new Promise<void>((resolve) => {
      go = resolve;
    });
    play = async () => {
      await gate;
      return { content: "done" };
    };
    const runId = await startTool([
      set("one"),
      { id: "ask", uses: "generate_text", with: { prompt: "Go" } },
      set("two"),
    ]);
    const response = await open(pathOf(runId), { process: other });
    const executing = executeRun(world, runId);
    const seen: ReadEvent[] = [];
    let text = "";
    for await (const chunk of response.body?.pipeThrough(new TextDecoderStream()) ?? []) {
      text += chunk;
      seen.splice(0, seen.length, ...readEvents(text));
      if (seen.some(({ name, data }) => name === "step.started" && data.toolName === "generate_text")) go();
    }
    await executing;
    const ids = numbers(seen);
    expect(ids).toEqual(upTo(Math.max(...ids)).slice((ids[0] ?? 1) - 1));
    expect(seen.at(-1)?.name).toBe("run.completed");
  });
});

describe("the events of an agent run", () => {
  it("show the answer as it is written, in pieces without a number", async () => {
    const written: (() => void)[] = [];
    const untilRead = () => new Promise<void>((resolve) => written.push(resolve));
    play = async ({ onText }) => {
      onText?.(() => "Hello");
      await untilRead();
      onText?.(() => "Hello there");
      await untilRead();
      return { content: "Hello there." };
    };
    const { runId } = await startRun(world, operator, {
      kind: "agent",
      targetId: tenant.agentId,
      userMessage: "Hi",
    });
    const response = await open(pathOf(runId, "agent"), { process: other });
    const executing = executeRun(world, runId);
    let text = "";
    for await (const chunk of response.body?.pipeThrough(new TextDecoderStream()) ?? []) {
      text += chunk;
      const pieces = readEvents(text).filter(({ name }) => name === "text.delta").length;
      for (const next of written.splice(0, Math.max(0, pieces))) next();
    }
    await executing;
    const deltas = readEvents(text).filter(({ name }) => name === "text.delta");
    expect(deltas.map(({ data }) => data.text).join("")).toBe("Hello there.");
    expect(deltas.every(({ id }) => id === null)).toBe(true);
    expect(readEvents(text).at(-1)).toMatchObject({
      name: "run.completed",
      data: { finalOutput: "Hello there." },
    });
  });
});

it("the texts of an agent run are those of its own model calls", async () => {
  const writer = await createTenant(world, { agent: { functions: ["generate_text"] } });
  const texts: unknown[] = [];
  let runId = "";
  const writes = async ({ onText }: ModelRequest, content: string): Promise<Partial<ModelReply>> => {
    onText?.(() => content);
    await expect.poll(() => world.db.modelCall.count({ where: { runId, content } })).toBe(1);
    await new RunTexts(world, writer, runId).send((name, data) => texts.push([name, data]));
    return { content };
  };
  play = async (request) => {
    const last = request.messages.at(-1);
    if (last?.content === "Draft") return writes(request, "A draft");
    if (last?.role === "tool") return writes(request, "Done");
    return { toolCalls: [{ id: "c", name: "generate_text", arguments: '{"prompt":"Draft"}' }] };
  };
  const actor = { kind: "operator", orgId: writer.orgId, name: "test" } as const;
  const request = { kind: "agent", targetId: writer.agentId, userMessage: "Hi" } as const;
  ({ runId } = await startRun(world, actor, request));
  await executeRun(world, runId);
  expect(texts).toEqual([["text.delta", { iteration: 2, text: "Done" }]]);
});

describe("a stream", () => {
  it.each([
    ["revoked", () => ({ revokedAt: world.clock.now() })],
    ["limited to other targets", ({ agentId }: Tenant) => ({ targetIds: [agentId] })],
  ])("ends when its key is %s", async (_name, data) => {
    const stranger = await createTenant(world);
    const runId = await insertRun(world, stranger, { status: "Pending" });
    const response = await open(pathOf(runId), { key: stranger.key });
    const text = response.text();
    await other.db.apiKey.update({ where: { id: stranger.apiKeyId }, data: data(stranger) });
    expect(readEvents(await text).map(({ name }) => name)).toEqual(["snapshot"]);
  });

  it("is rejected for a foreign run, a wrong number, and beyond 50 of a key", async () => {
    const stranger = await createTenant(world);
    const runId = await insertRun(world, tenant, { status: "Pending" });
    const status = async (path: string, parts?: Ask) => {
      const leave = new AbortController();
      const answer = await open(path, { ...parts, signal: leave.signal });
      leave.abort();
      return answer.status;
    };
    expect(await status(pathOf(runId), { key: stranger.key })).toBe(404);
    for (const since of ["-1", "x", "1.5"]) expect(await status(`${pathOf(runId)}?since=${since}`)).toBe(400);
    expect(await status(pathOf(runId), { headers: { "Last-Event-ID": "abc" } })).toBe(400);
    expect(await status(`${pathOf(runId)}?sinze=1`)).toBe(400);
    const leave = new AbortController();
    const { signal } = leave;
    for (let n = 0; n < 50; n += 1) expect((await open(pathOf(runId), { signal })).status).toBe(200);
    const full = await open(pathOf(runId));
    expect([full.status, full.headers.get("retry-after")]).toEqual([429, "5"]);
    leave.abort();
    await expect.poll(() => status(pathOf(runId))).toBe(200);
  });
});

describe("a run with large outputs", () => {
  const insertLarge = async (of: Tenant) => {
    const runId = await insertRun(world, of, { kind: "agent", steps: 16 });
    const output = JSON.stringify("x".repeat(MIB));
    await world.db.step.updateMany({ where: { runId }, data: { output } });
    await world.db.$executeRaw`
      UPDATE steps SET started_event = 2 * step_number + 1, finished_event = 2 * step_number + 2 WHERE run_id = ${runId}::uuid`;
    return pathOf(runId, "agent");
  };

  it("is read no faster than its events are taken", async () => {
    const enqueue = vi.spyOn(ReadableStreamDefaultController.prototype, "enqueue");
    onTestFinished(() => enqueue.mockRestore());
    const stream = (await open(`${await insertLarge(tenant)}?since=0`)).body;
    let taken = 0;
    let text = "";
    for await (const chunk of stream ?? []) {
      const enqueued = enqueue.mock.calls.reduce((sum, [{ length }]) => sum + length, 0);
      expect(enqueued - taken).toBeLessThan(2 * MIB);
      taken += chunk.length;
      text += Buffer.from(chunk).toString();
    }
    expect(numbers(readEvents(text)).slice(-33)).toEqual(upTo(35).slice(2));
  });

  it("waits with its snapshot for the organization's other readers, and not for another's", async () => {
    // 128 MiB are for what is not read, half of them for one organization. A snapshot takes 48 MiB.
    const process = { ...world, memory: new ProcessMemory({ limit: 1024 * MIB, used: () => 0 }) };
    const enter = vi.spyOn(process.memory, "enter");
    const stranger = await createTenant(world);
    const path = await insertLarge(tenant);
    const read = async (from: string, key = tenant.key) => {
      const reader = (await open(from, { key, process })).body?.getReader();
      await reader?.read();
      return { read: () => reader?.read(), cancel: () => reader?.cancel() };
    };
    const order: string[] = [];
    const stalled = await read(path);
    await stalled.read();
    const waiting = await read(path);
    const snapshot = waiting.read()?.then(() => order.push("waited"));
    await vi.waitFor(() => expect(enter).toHaveBeenCalledTimes(2), { timeout: 30_000 });
    const other = await read(await insertLarge(stranger), stranger.key);
    await other.read();
    order.push("other");
    await stalled.cancel();
    await snapshot;
    expect(order).toEqual(["other", "waited"]);
    await Promise.all([waiting.cancel(), other.cancel()]);
  });
});
