import { describe, expect, it } from "vitest";
import type { JsonObject } from "@/server/base/json/json";
import { cancelRun } from "@/server/runs/cancel";
import { startRun } from "@/server/runs/start";
import type { ModelReply, ModelRequest } from "@/server/work/models/port";
import { type ReadEvent, readEvents } from "@/testing/event-reader";
import { executeRun } from "@/testing/execute";
import { insertTool } from "@/testing/tools";
import { createTenant, openWorld, scriptedModels } from "@/testing/world";
import { handleRest } from "../rest";

let play: (request: ModelRequest) => Promise<Partial<ModelReply>> = async () => ({ content: "ok" });
const world = await openWorld({ models: scriptedModels((request) => play(request)) });
const other = await openWorld({ beside: world });
const tenant = await createTenant(world);
const operator = { kind: "operator", orgId: tenant.orgId, name: "test" } as const;

type Ask = { since?: string; id?: string; process?: typeof world; signal?: AbortSignal; children?: boolean };

function open(runId: string, { since, id, process = world, signal, children = true }: Ask = {}) {
  const query = new URLSearchParams({
    ...(children && { children: "true" }),
    ...(since !== undefined && { since }),
  });
  const headers = { "X-API-Key": tenant.key, ...(id !== undefined && { "Last-Event-ID": id }) };
  const url = `http://stepwell.test/v1/tools/run/${runId}/events?${query}`;
  return handleRest(process, new Request(url, { headers, ...(signal && { signal }) }));
}
const follow = async (runId: string, ask?: Ask) => readEvents(await (await open(runId, ask)).text());

let tools = 0;
async function tool(steps: JsonObject[]): Promise<{ id: string; slug: string }> {
  tools += 1;
  const slug = `tool-${tools}`;
  return { id: await insertTool(world, tenant, { slug, definition: { steps } }), slug };
}
const start = async (targetId: string) =>
  (await startRun(world, operator, { kind: "tool", targetId, input: {} })).runId;
const set = (id: string) => ({ id, uses: "calculate", with: { expression: "1 + 1" } });
const callTool = (id: string, slug: string, more: JsonObject = {}) => ({
  id,
  uses: "run_tool",
  with: { tool: slug, input: {} },
  ...more,
});
const ask = (id: string) => ({ id, uses: "run_agent", with: { agent: "helper", message: "Hi" } });

// `path: name tool`, where a path has the numbers of the steps.
const lineOf = ({ name, data }: ReadEvent) => {
  const path = Array.isArray(data.path) ? data.path : [];
  return [...path.map(({ stepNumber }) => `${stepNumber}:`), name, data.toolName ?? ""].join(" ").trim();
};
const textOf = ({ name, data }: ReadEvent) => JSON.stringify([name, data]);

async function nested(): Promise<string> {
  const leaf = await tool([set("one")]);
  const middle = await tool([set("one"), callTool("leaf", leaf.slug)]);
  const { id } = await tool([callTool("middle", middle.slug), ask("agent")]);
  return id;
}

describe("the events of called runs", () => {
  it("stand between the start and the completion of the step, with their path", async () => {
    const runId = await start(await nested());
    await executeRun(world, runId);
    const events = await follow(runId, { since: "0" });
    expect(events.map(lineOf)).toEqual([
      "run.waiting",
      "run.running",
      "step.started run_tool",
      "1: run.running",
      "1: step.started calculate",
      "1: step.completed calculate",
      "1: step.started run_tool",
      "1: 2: run.running",
      "1: 2: step.started calculate",
      "1: 2: step.completed calculate",
      "1: 2: run.completed",
      "1: step.completed run_tool",
      "1: run.completed",
      "step.completed run_tool",
      "step.started run_agent",
      "2: run.running",
      "2: run.completed",
      "step.completed run_agent",
      "run.completed",
    ]);
    const called = await world.db.run.findMany({ where: { rootRunId: runId }, orderBy: { id: "asc" } });
    const idOf = (agent: boolean) =>
      called.find(({ parentRunId, agentId }) => parentRunId === runId && (agentId !== null) === agent)?.id;
    const pathOf = (line: string) => events.find((event) => lineOf(event) === line)?.data.path;
    expect(pathOf("1: run.completed")).toEqual([{ stepNumber: 1, toolRunId: idOf(false) }]);
    expect(pathOf("2: run.completed")).toEqual([{ stepNumber: 2, agentRunId: idOf(true) }]);
    // Without children, the run's own.
    const own = await follow(runId, { since: "0", children: false });
    expect(own.map(textOf)).toEqual(events.filter(({ data }) => data.path === undefined).map(textOf));
  });

  it("begin after a snapshot with the runs of open steps", async () => {
    const runId = await start(await nested());
    await executeRun(world, runId);
    expect((await follow(runId)).map(lineOf)).toEqual(["snapshot", "run.completed"]);
  });

  it("continue after any of them, in another process, without a gap or a repetition", async () => {
    const leaf = await tool([set("one"), set("two")]);
    const middle = await tool([callTool("each", leaf.slug, { forEach: "[1..3]", concurrency: 3 })]);
    const { id } = await tool([callTool("both", middle.slug, { forEach: "[1..2]", concurrency: 2 })]);
    const runId = await start(id);
    await executeRun(world, runId);
    const all = await readRaw(runId, { since: "0" });
    expect(all.length).toBeGreaterThan(50);
    expect(new Set(all.map(({ id }) => id)).size).toBe(all.length);
    for (const [index, { id }] of all.entries()) {
      expect(await readRaw(runId, { id, process: other })).toEqual(all.slice(index + 1));
    }
  });

  it("come each once while the run executes, however often the reader reconnects", async () => {
    play = async () => ({ content: "done" });
    const leaf = await tool([set("one"), ask("agent"), set("two")]);
    const { id } = await tool([
      callTool("each", leaf.slug, { forEach: "[1..6]", concurrency: 3 }),
      callTool("last", leaf.slug),
    ]);
    const runId = await start(id);
    const executing = executeRun(world, runId);
    const seen: RawEvent[] = [];
    for (let turn = 0; !seen.some(({ line }) => line === "run.completed"); turn += 1) {
      const process = turn % 2 === 0 ? world : other;
      const last = seen.at(-1)?.id;
      seen.push(...(await readSome(runId, { count: 3, process, ...(last ? { id: last } : { since: "0" }) })));
    }
    await executing;
    const all = await readRaw(runId, { since: "0" });
    expect(seen.map(({ text }) => text).sort()).toEqual(all.map(({ text }) => text).sort());
  });

  it("include those of each attempt of a step", async () => {
    const fails = await tool([{ id: "no", uses: "calculate", with: { expression: "1 / 0" } }]);
    const { id } = await tool([
      callTool("twice", fails.slug, { retries: { count: 2, firstWaitMs: 0 }, onError: "continue" }),
    ]);
    const runId = await start(id);
    await executeRun(world, runId);
    const all = await readRaw(runId, { since: "0" });
    const ends = all.filter(({ line }) => line === "1: run.failed");
    expect(await world.db.run.count({ where: { parentRunId: runId } })).toBe(3);
    expect(ends).toHaveLength(3);
    for (const [index, { id }] of all.entries()) {
      expect(await readRaw(runId, { id, process: other })).toEqual(all.slice(index + 1));
    }
  });

  it("are only those of runs that the key may read", async () => {
    const target = await nested();
    const runId = await start(target);
    await executeRun(world, runId);
    await world.db.apiKey.update({ where: { id: tenant.apiKeyId }, data: { targetIds: [target] } });
    try {
      const events = await follow(runId, { since: "0" });
      expect(events.every(({ data }) => data.path === undefined)).toBe(true);
      expect(events.at(-1)?.name).toBe("run.completed");
    } finally {
      await world.db.apiKey.update({ where: { id: tenant.apiKeyId }, data: { targetIds: [] } });
    }
  });

  it("end with a run that is cancelled while it waits for another", async () => {
    let go = () => {};
    const asked = new Promise<void>((resolve) => {
      go = resolve;
    });
    play = ({ signal }) =>
      new Promise((_, reject) => {
        go();
        signal.addEventListener("abort", () => reject(signal.reason));
      });
    const { id } = await tool([ask("agent")]);
    const runId = await start(id);
    const executing = executeRun(world, runId);
    await asked;
    await cancelRun(world, tenant.orgId, { runId, by: "Ada" });
    await executing.catch(() => {});
    play = async () => ({ content: "ok" });
    const lines = (await follow(runId, { since: "0" })).map(lineOf);
    expect(lines.slice(-3)).toEqual(["1: run.cancelled", "step.completed run_agent", "run.cancelled"]);
  });
});

it("an id of a stream with called runs is rejected by one without them, and nonsense by both", async () => {
  const { id } = await tool([set("one")]);
  const runId = await start(id);
  await executeRun(world, runId);
  expect((await open(runId, { id: "1(2.1:3)", children: false })).status).toBe(400);
  expect((await open(runId, { id: "1(2:3)" })).status).toBe(400);
  // Of no step that called a run: ignored.
  expect((await readRaw(runId, { id: "1(2.1:3)" })).at(-1)?.line).toBe("run.completed");
});

type RawEvent = { id: string; line: string; text: string };

const rawEvents = (text: string): RawEvent[] =>
  readEvents(text).flatMap((event) =>
    event.place === null ? [] : [{ id: event.place, line: lineOf(event), text: textOf(event) }],
  );

async function readRaw(runId: string, request: Ask): Promise<RawEvent[]> {
  return rawEvents(await (await open(runId, request)).text());
}

async function readSome(runId: string, { count, ...request }: Ask & { count: number }): Promise<RawEvent[]> {
  const leave = new AbortController();
  const response = await open(runId, { ...request, signal: leave.signal });
  let text = "";
  for await (const chunk of response.body?.pipeThrough(new TextDecoderStream()) ?? []) {
    text += chunk;
    if (rawEvents(text).length >= count) break;
  }
  leave.abort();
  return rawEvents(text).slice(0, count);
}
