import { createHash, randomUUID } from "node:crypto";
import pg from "pg";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { newId } from "@/server/base/ids";
import { startRun } from "@/server/runs/start";
import type { StartConditions } from "@/server/runs/start-item";
import type { ModelReply, ModelRequest } from "@/server/work/models/port";
import { executeRun, executeSegment, replaceWorker, startEngine } from "@/testing/execute";
import { expectSoundLedger } from "@/testing/ledger";
import { statementName } from "@/testing/process";
import { type Cut, type DatabaseProxy, openDatabaseProxy } from "@/testing/servers/database-proxy";
import {
  createTenant,
  createWorld,
  openWorld,
  scriptedModels,
  type Tenant,
  type World,
} from "@/testing/world";
import { admitWaitingRuns } from "../claim";
import { type ModelCallRow, newStepRow } from "./journal-rows";
import { WorkerLost } from "./writer";

let beside: World;
let proxy: DatabaseProxy;
let tenant: Tenant;
let modelCalls = 0;
let play: (request: ModelRequest) => Partial<ModelReply>;

const world = await openWorld({
  models: scriptedModels((request) => {
    modelCalls += 1;
    return play(request);
  }),
});
beforeEach(async () => {
  tenant = await createTenant(world, { credits: "10000", plan: { concurrency: 1_000 } });
  proxy = await openDatabaseProxy(world.env.databaseUrl);
  beside = await createWorld({ beside: world, databaseUrl: proxy.url, models: world.models });
  play = () => ({});
  modelCalls = 0;
});
afterEach(async () => {
  vi.restoreAllMocks();
  await beside.close();
  await proxy.close();
});

const read = (id: string) => world.db.run.findUniqueOrThrow({ where: { id } });

async function start(
  process = world,
  { userMessage = "Hi", ...conditions }: StartConditions & { userMessage?: string } = {},
) {
  const actor = { kind: "operator", orgId: tenant.orgId, name: "test" } as const;
  return startRun(process, actor, { kind: "agent", targetId: tenant.agentId, userMessage, conditions });
}

function callRow(run: string, call: Partial<ModelCallRow> = {}): ModelCallRow {
  return {
    id: newId(),
    organization_id: tenant.orgId,
    run_id: run,
    key: randomUUID(),
    iteration_number: 1,
    provider: "test",
    model: "gpt-5-mini",
    status: "Completed",
    content: "",
    reasoning: "",
    tool_calls: "[]",
    state_sealed: null,
    finish_reason: "stop",
    input_tokens: 1,
    output_tokens: 1,
    cached_input_tokens: 0,
    cache_write_tokens: 0,
    reasoning_tokens: 0,
    estimated: false,
    credits: "0",
    error_message: null,
    attempts: "[]",
    started_at: world.clock.now().toISOString(),
    finished_at: world.clock.now().toISOString(),
    duration_ms: 1,
    sequence: 1,
    ...call,
  };
}

describe("a flush", () => {
  it("takes all that has arrived while the last one was under way", async () => {
    const { figures } = await world.engine.worker();
    const before = figures().accounts;
    const [flushes, items] = [before.flushes, before.items];
    await Promise.all(Array.from({ length: 200 }, () => start()));
    const after = figures().accounts;
    expect(after.items - items).toBe(200);
    expect(after.flushes - flushes).toBeLessThanOrEqual(20);
    expect(await world.db.run.count({ where: { organizationId: tenant.orgId } })).toBe(200);
    await expectSoundLedger(world, tenant);
  });

  it("adds up the usage of a call that failed and was made again", async () => {
    const { runId } = await start();
    const { journal } = await world.engine.worker();
    const usage = { input_tokens: 9, cached_input_tokens: 4, cache_write_tokens: 3, reasoning_tokens: 2 };
    const row = { id: newId(), key: "think-1", ...usage };
    await journal.row(callRow(runId, { ...row, status: "Failed" }));
    await journal.row(callRow(runId, { ...row, sequence: 2 }));
    expect(await world.db.modelCall.findMany({ where: { runId } })).toMatchObject([
      { inputTokens: 18, cachedInputTokens: 8, cacheWriteTokens: 6, reasoningTokens: 4, outputTokens: 2 },
    ]);
  });

  it("adds the child run to a step that was shown before it was known", async () => {
    const { runId } = await start();
    const { journal } = await world.engine.worker();
    const step = { key: "call-1-1", stepNumber: 1, iteration: 1, toolName: "run_tool", input: "{}" };
    const usage = { inputTokens: 0, outputTokens: 0 };
    const started = { ...step, reasoning: "", usage, hasSideEffects: true };
    const row = newStepRow({ id: runId, orgId: tenant.orgId }, started, world.clock.now());
    const child_run_id = newId();
    await journal.row({ ...row, sequence: 1 });
    await journal.row({ ...row, child_run_id, sequence: 2 });
    expect(await world.db.step.findMany({ where: { runId } })).toMatchObject([{ childRunId: child_run_id }]);
  });

  it("holds at most 512 items", async () => {
    const { runId } = await start();
    const { journal, figures } = await world.engine.worker();
    const { flushes } = figures().journal;
    await Promise.all(Array.from({ length: 1_100 }, () => journal.row(callRow(runId))));
    expect(figures().journal.flushes - flushes).toBe(3);
    expect(await world.db.modelCall.count({ where: { runId } })).toBe(1_100);
  });

  it("holds about 8 million characters, or one item that is larger", async () => {
    const { runId } = await start();
    const { journal, figures } = await world.engine.worker();
    const { flushes } = figures().journal;
    const sizes = [3, 3, 3, 9, 1];
    const rows = sizes.map((size, index) =>
      callRow(runId, { key: `${index}`, content: "x".repeat(size * 1024 * 1024) }),
    );
    await Promise.all(rows.map((row) => journal.row(row)));
    // A run's rows are committed in order: 3 + 3, 3, 9, 1.
    expect(figures().journal.flushes - flushes).toBe(4);
    const stored = await world.pool.query<{ n: number }>(
      "SELECT length(content) / 1048576 AS n FROM model_calls WHERE run_id = $1 ORDER BY key",
      [runId],
    );
    expect(stored.rows.map(({ n }) => n)).toEqual(sizes);
  });

  it("commits the rows of one step in the order in which they came", async () => {
    const { runId } = await start();
    const { journal } = await world.engine.worker();
    await Promise.all([
      journal.row(
        callRow(runId, { key: "a", status: "Running", sequence: 2, finished_at: null, duration_ms: null }),
      ),
      journal.row(callRow(runId, { key: "a", content: "done", sequence: 3 })),
      journal.row(callRow(runId, { key: "b", sequence: 4 })),
      journal.row(callRow(runId, { key: "a", content: "too late", sequence: 5 })),
    ]);
    const rows = await world.db.modelCall.findMany({ where: { runId }, orderBy: { key: "asc" } });
    expect(rows).toMatchObject([{ key: "a", content: "done", sequence: 3 }, { key: "b" }]);
  });

  it("fails an item that the database rejects, and none of those that came with it", async () => {
    const { runId } = await start();
    const { journal } = await world.engine.worker();
    const settled = await Promise.allSettled([
      journal.row(callRow(runId, { key: "a" })),
      journal.row(callRow(newId(), { key: "nobody's" })),
      journal.row(callRow(runId, { key: "b" })),
    ]);
    expect(settled.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "fulfilled"]);
    expect(await world.db.modelCall.count({ where: { runId } })).toBe(2);
  });

  it("stores U+0000 and unpaired surrogates as U+FFFD, in rows and in the inputs of runs", async () => {
    const text = 'a\0b \ud83d c \udc4d d \u{1f44d} \\u0000 "\\ud83d"';
    const { runId } = await start(world, { userMessage: text });
    const { journal } = await world.engine.worker();
    await journal.row(callRow(runId, { content: text, error_message: text }));
    const clean = 'a\ufffdb \ufffd c \ufffd d \u{1f44d} \\u0000 "\\ud83d"';
    expect((await read(runId)).input).toBe(clean);
    expect(await world.db.modelCall.findFirst({ where: { runId } })).toMatchObject({
      content: clean,
      errorMessage: clean,
    });
  });
});

describe("a connection that is cut", () => {
  const calls = (request: ModelRequest): Partial<ModelReply> => {
    if (request.messages.some(({ role }) => role === "tool")) return { content: "Done." };
    return {
      toolCalls: [
        { id: "a", name: "calculate", arguments: '{"expression":"1+1"}' },
        { id: "b", name: "adder", arguments: '{"a":1,"b":2}' },
      ],
    };
  };

  const flush = "flush-writes";
  const question = "SELECT flush, answer";
  it.each<[string, Cut[]]>([
    ["before the commit", [{ request: flush, moment: "before" }]],
    ["after the commit", [{ request: flush, moment: "after" }]],
    [
      "twice before and once after the commit",
      (["before", "before", "after"] as const).map((moment) => ({ request: flush, moment })),
    ],
    [
      "after the commit, and again while it asks for the answer",
      [
        { request: flush, moment: "after" },
        { request: question, moment: "before" },
      ],
    ],
  ])("%s, at any flush of a run, repeats nothing and loses nothing", async (_name, moments) => {
    play = calls;
    const clean = await start();
    await executeRun(world, clean.runId);
    const entriesOf = async (runId: string) => {
      const tree = await world.db.run.findMany({ where: { rootRunId: runId }, select: { id: true } });
      const entries = await world.db.creditEntry.findMany({
        where: { runId: { in: tree.map(({ id }) => id) } },
      });
      return entries.map(({ kind, amount }) => `${kind} ${amount}`).sort();
    };
    const expected = await entriesOf(clean.runId);
    expect(modelCalls).toBe(2);

    const { figures } = await beside.engine.worker();
    let cuts = 0;
    for (let nth = 0, wasCut = true; wasCut; nth += 1) {
      const { runId } = await start();
      await admitWaitingRuns(world, { worker: null, slots: 1_000 });
      const { accounts, journal } = figures();
      const first = accounts.flushes + journal.flushes;
      // Cuts flush number `nth` of this run; earlier ones pass.
      const passed = () => figures().accounts.flushes + figures().journal.flushes - first;
      const worker = await beside.engine.worker();
      const armed = armAt(
        worker,
        () => passed() >= nth,
        () => proxy.cut(...moments),
      );
      modelCalls = 0;
      expect(await executeSegment(beside, runId)).toBe("ended");
      armed.restore();
      wasCut = armed.done() && proxy.left() === 0;
      cuts += wasCut ? 1 : 0;
      proxy.cut();
      expect(await read(runId)).toMatchObject({
        status: "Completed",
        stepsExecuted: 2,
        actionsUsed: 2,
        epoch: 1,
      });
      expect(modelCalls).toBe(2);
      expect(await entriesOf(runId)).toEqual(expected);
    }
    expect(cuts).toBeGreaterThan(2);
    await expectSoundLedger(world, tenant);
  });

  it.each(["before", "after"] as const)(
    "%s the commit of many starts starts each of them once",
    async (moment) => {
      await beside.engine.worker();
      proxy.cut({ request: flush, moment });
      const started = await Promise.all(Array.from({ length: 50 }, () => start(beside)));
      expect(proxy.left()).toBe(0);
      const runs = await world.db.run.findMany({ where: { organizationId: tenant.orgId } });
      expect(runs.map(({ id }) => id).sort()).toEqual(started.map(({ runId }) => runId).sort());
      await expectSoundLedger(world, tenant);
    },
  );

  it.each(["before", "after"] as const)(
    "%s the commit, and then not restored at the first attempt, starts a run once",
    async (moment) => {
      await start(beside);
      const { databaseUrl } = beside.env;
      const wrong = new URL(databaseUrl);
      wrong.pathname = "/gone";
      let reads = 0;
      Object.defineProperty(beside.env, "databaseUrl", {
        get: () => (++reads === 1 ? wrong.href : databaseUrl),
      });
      proxy.cut({ request: flush, moment });
      const ids = [await start(beside), await start(beside)].map(({ runId }) => runId);
      expect([proxy.left(), reads]).toEqual([0, 2]);
      expect(await world.db.run.count({ where: { id: { in: ids } } })).toBe(2);
      expect(await world.db.run.count({ where: { organizationId: tenant.orgId } })).toBe(3);
      await expectSoundLedger(world, tenant);
    },
  );

  it("with any error after the commit starts a run once", async () => {
    await beside.engine.worker();
    const { query } = pg.Client.prototype;
    let isCut = false;
    const spy = vi.spyOn(pg.Client.prototype, "query").mockImplementation(function (
      this: pg.Client,
      ...args
    ) {
      const answered = Reflect.apply(query, this, args);
      if (isCut || statementName(args) !== flush) return answered;
      isCut = true;
      return Promise.resolve(answered).then(() => {
        throw Object.assign(new Error("write EPROTO"), { code: "EPROTO" });
      });
    });
    const { runId } = await start(beside);
    spy.mockRestore();
    expect(isCut).toBe(true);
    const runs = await world.db.run.findMany({ where: { organizationId: tenant.orgId } });
    expect(runs.map(({ id }) => id)).toEqual([runId]);
    await expectSoundLedger(world, tenant);
  });

  it.each([
    ["before", []],
    ["after", ["Completed"]],
  ] as const)(
    "%s the commit of a start that no caller waits for any more leaves no run without a worker",
    async (moment, statuses) => {
      startEngine(beside);
      await beside.engine.worker();
      // The engine also flushes runs of other tests.
      proxy.cut({ request: flush, also: tenant.orgId, moment, thenReject: true });
      const started = start(beside);
      await expect.poll(() => proxy.left()).toBe(0);
      const runs = () => world.db.run.count({ where: { organizationId: tenant.orgId } });
      await expect.poll(runs).toBe(statuses.length);
      proxy.reject(true);
      // Ten seconds pass.
      const { now } = performance;
      const real = now.bind(performance);
      vi.spyOn(performance, "now").mockImplementation(() => real() + 11_000);
      await expect(started).rejects.toThrow(/Connection terminated|ECONNRE/);
      vi.restoreAllMocks();
      proxy.reject(false);
      const isBack = () => beside.pool.query("SELECT 1").then(Boolean, () => false);
      await expect.poll(isBack).toBe(true);
      // The next start finds out whether it was committed.
      const { runId } = await start(beside);
      const statusesOf = async (where: object) =>
        (await world.db.run.findMany({ where: { organizationId: tenant.orgId, ...where } })).map(
          ({ status }) => status,
        );
      await expect.poll(() => statusesOf({ id: runId })).toEqual(["Completed"]);
      await expect.poll(() => statusesOf({ id: { not: runId } })).toEqual(statuses);
      await expectSoundLedger(world, tenant);
    },
  );
});

function armAt(
  worker: Awaited<ReturnType<World["engine"]["worker"]>>,
  when: () => boolean,
  then: () => void,
) {
  let done = false;
  const arm = () => {
    if (done || !when()) return;
    done = true;
    then();
  };
  const { journal, accounts } = worker;
  const { row, child } = journal;
  const { hold, end } = accounts;
  journal.row = (item) => {
    arm();
    return row.call(journal, item);
  };
  journal.child = (item) => {
    arm();
    return child.call(journal, item);
  };
  accounts.hold = (item) => {
    arm();
    return hold.call(accounts, item);
  };
  accounts.end = (item, rows) => {
    arm();
    return end.call(accounts, item, rows);
  };
  return {
    done: () => done,
    restore() {
      Object.assign(journal, { row, child });
      Object.assign(accounts, { hold, end });
    },
  };
}

it("rejects all writes of a replaced worker, including queued ones", async () => {
  const { runId } = await start();
  const { journal, accounts } = await beside.engine.worker();
  await replaceWorker(beside);
  const settled = await Promise.allSettled([
    ...Array.from({ length: 600 }, () => journal.row(callRow(runId))),
    accounts.hold({ run: runId, org: tenant.orgId, amount: "1" }),
    accounts.reject({
      org: tenant.orgId,
      rate_key: "k",
      rate_limit: 1,
      rate_seconds: 1,
      scope: null,
      idem: null,
      hash: null,
      replay_first: false,
    }),
  ]);
  for (const result of settled)
    expect(result).toMatchObject({ status: "rejected", reason: expect.any(WorkerLost) });
  await expect(journal.row(callRow(runId))).rejects.toThrow(WorkerLost);
  expect(await world.db.modelCall.count({ where: { runId } })).toBe(0);
  // Its connections are closed; those of the other process stay.
  const lanes =
    "SELECT FROM pg_stat_activity WHERE datname = current_database() AND query LIKE 'SELECT flush_writes%'";
  await expect.poll(async () => (await world.pool.query(lanes)).rowCount).toBeLessThanOrEqual(2);
  // The process continues with a new worker.
  await expect.poll(async () => (await start(beside)).runId).toEqual(expect.any(String));
});

describe("starts with one idempotency key", () => {
  const idempotent = (key: string, body = "same"): StartConditions => ({
    idempotency: {
      scope: "test",
      key,
      requestHash: createHash("sha256").update(body).digest(),
      answer: (runId) => ({ id: runId }),
    },
  });

  it.each(["one flush", "two processes"])("in %s start one run and get one answer", async (where) => {
    const other = where === "one flush" ? world : beside;
    await other.engine.worker();
    for (let round = 0; round < 10; round += 1) {
      const key = `key ${round}`;
      const results = await Promise.all(
        [world, other, world, other].map((process) => start(process, idempotent(key))),
      );
      expect(new Set(results.map(({ runId }) => runId)).size).toBe(1);
      const replays = results.map(({ replay }) => replay).filter((replay) => replay !== null);
      expect(replays).toEqual(Array.from({ length: 3 }, () => JSON.stringify({ id: results[0]?.runId })));
    }
    expect(await world.db.run.count({ where: { organizationId: tenant.orgId } })).toBe(10);
    await expectSoundLedger(world, tenant);
  });

  it("count once for the limit, also if the key is stored meanwhile", async () => {
    const limit = { name: "starts", key: `test:${tenant.orgId}`, limit: 2, seconds: 60 } as const;
    const { idempotency } = idempotent("key");
    const { runId } = await start(world, { limit });
    const holder = await world.pool.connect();
    await holder.query("BEGIN");
    await holder.query(
      `INSERT INTO idempotency_keys (organization_id, scope, key, request_hash, run_id, response, created_at, expires_at)
       VALUES ($1, 'test', 'key', $2, $3, '{}', $4, $4::timestamptz + interval '1 day')`,
      [tenant.orgId, idempotency?.requestHash, runId, world.clock.now()],
    );
    const second = start(world, { limit, idempotency });
    const waiting =
      "SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock' AND query LIKE '%flush_writes%'";
    await expect.poll(async () => (await world.pool.query(waiting)).rowCount).toBe(1);
    await holder.query("COMMIT");
    holder.release();
    const replay = { runId, replay: "{}", rate: { allowed: true, remaining: 0 } };
    expect(await second).toMatchObject(replay);
  });

  it("and different requests conflict", async () => {
    const results = await Promise.allSettled(
      ["a", "b", "c"].map((body) => start(world, idempotent("key", body))),
    );
    expect(results.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
    const rejected = results.flatMap((result) => (result.status === "rejected" ? result.reason : []));
    expect(rejected).toMatchObject([{ code: "idempotency_conflict" }, { code: "idempotency_conflict" }]);
  });

  it("that the balance does not allow store no key", async () => {
    tenant = await createTenant(world, { credits: "0.001" });
    await expect(start(world, idempotent("key"))).rejects.toThrow("Insufficient credits.");
    await expect(start(world, idempotent("key", "other"))).rejects.toThrow("Insufficient credits.");
    expect(await world.db.idempotencyKey.count({ where: { organizationId: tenant.orgId } })).toBe(0);
  });
});
