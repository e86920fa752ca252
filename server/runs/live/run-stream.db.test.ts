import { afterEach, describe, expect, it, vi } from "vitest";
import { z } from "zod";
import type { MemberActor } from "@/server/base/actor";
import { newId } from "@/server/base/ids";
import { cancelRun } from "@/server/runs/cancel";
import { type EventSink, respondWithEvents } from "@/server/runs/live/event-stream";
import { MAX_NAMED_RUNS, streamRun, streamRuns } from "@/server/runs/live/run-stream";
import { applyUpdate, type RunUpdate } from "@/server/runs/live/run-update";
import { inspectRun, type RunInspection } from "@/server/runs/read/inspect/inspect";
import { notifyRunChanged, subscribeToRuns } from "@/server/runs/run-changes";
import { startRun } from "@/server/runs/start";
import type { ModelReply, ModelRequest } from "@/server/work/models/port";
import { executeRun } from "@/testing/execute";
import { createMember, insertRun } from "@/testing/runs";
import { createTenant, openWorld, scriptedModels } from "@/testing/world";

let play: (request: ModelRequest) => Promise<Partial<ModelReply>>;

const world = await openWorld();
const writer = await openWorld({
  beside: world,
  models: scriptedModels((request) => play(request)),
});
const tenant = await createTenant(world);
const actor = await createMember(world, tenant, "viewer");

afterEach(() => void vi.useRealTimers());

type SentEvent = { name: string; data: RunUpdate; id: string };

function readEvents(response: Response) {
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  return {
    async next(): Promise<SentEvent | null> {
      for (;;) {
        const end = rest.indexOf("\n\n");
        if (end >= 0) {
          const block = rest.slice(0, end);
          rest = rest.slice(end + 2);
          const field = (name: string) =>
            block
              .split("\n")
              .find((line) => line.startsWith(`${name}: `))
              ?.slice(name.length + 2) ?? "";
          if (field("event") !== "")
            return { name: field("event"), id: field("id"), data: JSON.parse(field("data")) };
          continue;
        }
        const chunk = await reader?.read();
        if (!chunk || chunk.done) return null;
        rest += chunk.value;
      }
    },
    close: () => reader?.cancel(),
  };
}

function open(runId: string, after: number) {
  const leave = new AbortController();
  const request = new Request("http://stepwell.test/", { signal: leave.signal });
  const response = respondWithEvents(request, {
    produce: (sink) => streamRun(world, actor, { runId, after, sink }),
    mayStay: async () => true,
    onError: (error) => {
      throw error;
    },
    onOver: () => {},
  });
  return { ...readEvents(response), leave, response };
}

type Opened = { id: string; known: RunInspection; stream: ReturnType<typeof open> };

async function startWaiting(): Promise<string> {
  const definition = {
    parameters: { type: "object" },
    steps: [{ id: "ask", uses: "generate_text", with: { prompt: "Go on." } }],
  };
  await world.db.toolVersion.updateMany({
    where: { toolId: tenant.toolId },
    data: { definition: JSON.stringify(definition) },
  });
  const operator = { kind: "operator", orgId: tenant.orgId, name: "test" } as const;
  return (await startRun(writer, operator, { kind: "tool", targetId: tenant.toolId, input: {} })).runId;
}

async function changeStep(runId: string, stepNumber: number): Promise<void> {
  const sequence = (await newestSequence(runId)) + 1;
  await writer.db.step.updateMany({ where: { runId, stepNumber }, data: { sequence } });
  notifyRunChanged(writer, { orgId: tenant.orgId, id: runId }, sequence);
}

async function end(runId: string): Promise<void> {
  const sequence = (await newestSequence(runId)) + 1;
  await writer.db.run.update({
    where: { id: runId },
    data: { status: "Completed", output: "{}", finishedAt: world.clock.now(), sequence },
  });
  notifyRunChanged(writer, { orgId: tenant.orgId, id: runId }, sequence);
}

async function newestSequence(runId: string): Promise<number> {
  const { sequence } = await writer.db.run.findUniqueOrThrow({ where: { id: runId } });
  const steps = await writer.db.step.aggregate({ where: { runId }, _max: { sequence: true } });
  return Math.max(sequence, steps._max.sequence ?? 0);
}

describe("the stream of one run", () => {
  it("sends changes, then the end of the run, then closes", async () => {
    const runId = await insertRun(world, tenant, { status: "Running", steps: 2 });
    const stream = open(runId, -1);
    expect(stream.response.headers.get("content-type")).toMatch(/^text\/event-stream/);
    const first = await stream.next();
    expect(first?.data.steps.map((step) => step.number)).toEqual([1, 2]);
    expect(first?.id).toBe("2");

    await changeStep(runId, 2);
    const second = await stream.next();
    expect(second).toMatchObject({ name: "change", id: "3" });
    expect(second?.data.steps.map((step) => step.number)).toEqual([2]);

    await end(runId);
    expect(await stream.next()).toMatchObject({
      name: "change",
      data: { run: { status: "Completed" }, steps: [] },
    });
    expect(await stream.next()).toBeNull();
  });

  it.each(["Completed", "Cancelled"])(
    "leaves its reader with the complete run that ended %s",
    async (status) => {
      const {
        id: runId,
        stream,
        known,
      } = await new Promise<Opened>((resolve, reject) => {
        play = async ({ signal }) => {
          const inspect = () => inspectRun(world, actor, { runId: id });
          // An open step is written after a moment.
          await expect.poll(async () => (await inspect()).steps).toHaveLength(1);
          const inspection = await inspect();
          resolve({ id, known: inspection, stream: open(id, inspection.run.sequence) });
          if (status === "Completed") return { content: "done" };
          await cancelRun(writer, tenant.orgId, { runId: id, by: "Ada" });
          return new Promise((_resolve, fail) => {
            if (signal.aborted) fail(signal.reason);
            signal.addEventListener("abort", () => fail(signal.reason));
          });
        };
        let id = "";
        startWaiting().then((runId) => {
          id = runId;
          executeRun(writer, id).catch(reject);
        }, reject);
      });
      let read = known;
      for (let event = await stream.next(); event !== null; event = await stream.next()) {
        read = applyUpdate(read, event.data);
      }
      expect(read.run.status).toBe(status);
      expect(read).toEqual(await inspectRun(world, actor, { runId }));
    },
  );

  it("sends neither the run's texts nor lines that have not changed", async () => {
    const input = JSON.stringify({ text: "x".repeat(30_000) });
    const runId = await insertRun(world, tenant, { status: "Running", steps: 1_000, input });
    const stream = open(runId, 1_000);
    await changeStep(runId, 500);
    const event = await stream.next();
    expect(event?.data.steps.map((step) => step.number)).toEqual([500]);
    expect(JSON.stringify(event?.data).length).toBeLessThan(2_000);
    stream.leave.abort();
  });

  it("misses nothing after a dropped connection", async () => {
    const runId = await insertRun(world, tenant, { status: "Running", steps: 3 });
    const stream = open(runId, -1);
    const last = await stream.next();
    stream.leave.abort();
    await changeStep(runId, 1);
    await changeStep(runId, 3);
    const again = open(runId, Number(last?.id));
    const change = await again.next();
    expect(change?.data.steps.map((step) => step.number)).toEqual([1, 3]);
    expect(change?.data.run.sequence).toBe(5);
    again.leave.abort();
  });

  it("receives changes after its listening connection was interrupted", async () => {
    const runId = await insertRun(world, tenant, { status: "Running", steps: 1 });
    const stream = open(runId, -1);
    await stream.next();
    await world.pool.query(
      "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'stepwell notifications' AND datname = current_database()",
    );
    await changeStep(runId, 1);
    expect((await stream.next())?.id).toBe("2");
    stream.leave.abort();
  });
});

describe("the stream of an organization's runs", () => {
  it("names the runs that changed, and none of another organization", async () => {
    const other = await createTenant(world);
    const foreignId = await insertRun(world, other, { status: "Running", steps: 1 });
    const runId = await insertRun(world, tenant, { status: "Running", steps: 1 });
    const reader = await readRuns(actor);
    await expect.poll(reader.read).toEqual([]);
    notifyRunChanged(writer, { orgId: other.orgId, id: foreignId }, 2);
    notifyRunChanged(writer, { orgId: tenant.orgId, id: runId }, 2);
    await expect.poll(reader.read).toEqual([runId]);
    await reader.leave();
  });

  it.each([
    ["names as many as it may of the runs that changed while its reader was busy", 0],
    ["says to look at all when one more has changed", 1],
  ])("%s", async (_, more) => {
    const busy = await createTenant(world);
    const reader = await readRuns(await createMember(world, busy, "viewer"));
    await expect.poll(reader.read).toEqual([]);
    // Subscribed after the stream, so it receives each notification later.
    let heard = 0;
    const subscription = subscribeToRuns(world, busy.orgId, () => {
      heard += 1;
    });
    const notify = async (ids: string[], sequence: number) => {
      const before = heard;
      for (const id of ids) notifyRunChanged(writer, { orgId: busy.orgId, id }, sequence);
      await expect.poll(() => heard - before).toBe(ids.length);
    };

    // Changes are merged until the reader asks. A run that changes twice counts once.
    const ids = Array.from({ length: MAX_NAMED_RUNS + more }, newId);
    await notify(ids, 1);
    await notify(ids, 2);
    await expect.poll(reader.read).toEqual(more === 0 ? ids : []);

    // Later changes are named again.
    const late = newId();
    await notify([late], 1);
    await expect.poll(reader.read).toEqual([late]);
    subscription.unsubscribe();
    await reader.leave();
  });

  it("sends nothing for a minute while nothing changes, unless notifications may be lost", async () => {
    const reader = await readRuns(actor);
    reader.askAlways();
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    const readAfter = async (ms: number) => {
      await vi.advanceTimersByTimeAsync(ms);
      return reader.read();
    };
    expect(await readAfter(0)).toEqual([]);
    expect(await readAfter(30_000)).toBeUndefined();
    world.notifications.deliverLocally("run", "");
    expect(await readAfter(1_000)).toEqual([]);
    expect(await readAfter(59_000)).toBeUndefined();
    expect(await readAfter(2_000)).toEqual([]);
    await reader.leave();
  });
});

/** A reader of the stream of runs. `read` asks for the next event, and returns its ids once it is there. */
async function readRuns(member: MemberActor) {
  world.notifications.open();
  await expect.poll(() => world.notifications.connected()).toBe(true);
  const leave = new AbortController();
  const sent: string[][] = [];
  let ask = () => {};
  let asksAlways = false;
  const sink: EventSink = {
    drained: () =>
      new Promise((resolve) => {
        ask = resolve;
        if (asksAlways) resolve();
        leave.signal.addEventListener("abort", () => resolve());
      }),
    send: ({ data }) => void sent.push(z.object({ ids: z.array(z.string()) }).parse(data).ids),
    close: () => leave.abort(),
    signal: leave.signal,
  };
  const ended = streamRuns(world, member, sink);
  return {
    askAlways() {
      asksAlways = true;
      ask();
    },
    read(): string[] | undefined {
      ask();
      return sent.shift();
    },
    leave: async () => {
      leave.abort();
      await ended;
    },
  };
}
