import type { QueryConfig } from "pg";
import { afterAll, beforeAll, beforeEach, expect, it } from "vitest";
import { createDashboardCaller } from "@/server/api/dashboard/router";
import { handleRest } from "@/server/api/rest";
import { newId } from "@/server/ids";
import { createMember } from "@/server/testing/runs";
import { createTenant, createWorld, type Tenant, type World } from "@/server/testing/world";
import { executeRun } from "@/server/testing/execute";
import { startRun } from "./start";

/** What a step does outside: under one key however often it is tried, and ended when the run is. */

let world: World;
let tenant: Tenant;
let toolId: string;
let outside: (key: string | null, signal: AbortSignal | null | undefined) => Promise<Response>;

beforeAll(async () => {
  world = await createWorld({
    fetch: (_url, init) => outside(new Headers(init?.headers).get("idempotency-key"), init?.signal),
  });
  tenant = await createTenant(world);
  toolId = await createCallingTool();
});
afterAll(() => world.close());
beforeEach(() => {
  outside = async () => new Response("{}");
});

/** A tool of two steps: one that calculates, one that calls out, tried twice more. */
async function createCallingTool(): Promise<string> {
  const id = newId();
  const now = world.clock.now();
  const definition = {
    parameters: { type: "object" },
    steps: [
      { id: "before", uses: "calculate", with: { expression: "1 + 1" } },
      { id: "out", uses: "http_request", with: { url: "https://out.test/", method: "POST" }, retries: 2 },
    ],
    output: { status: "{{ steps.out.status }}" },
  };
  const version = {
    number: 1,
    definition: JSON.stringify(definition),
    createdBy: "operator",
    createdAt: now,
  };
  await world.db.tool.create({
    data: {
      id,
      organizationId: tenant.orgId,
      slug: "caller",
      name: "Caller",
      createdAt: now,
      updatedAt: now,
      versions: { create: version },
    },
  });
  return id;
}

const remember: Remember = (_name, work) => work();
const read = (id: string) => world.db.run.findUniqueOrThrow({ where: { id } });

async function start(): Promise<string> {
  const actor = { kind: "operator", orgId: tenant.orgId, name: "test" } as const;
  return (await startRun(world, actor, { kind: "tool", targetId: toolId, input: {} })).runId;
}

it("sends a step's key along, the same for each of its tries and after a crash in the middle of it", async () => {
  const keys: (string | null)[] = [];
  const runId = await start();
  outside = async (key) => {
    keys.push(key);
    if (keys.length === 1) throw new Error("connection reset");
    if (keys.length === 2) {
      // The process dies: it has the run no more when the answer comes.
      await world.pool.query("UPDATE runs SET epoch = epoch + 1 WHERE id = $1", [runId]);
    }
    return new Response("{}");
  };
  await expect(executeRun(world, runId)).rejects.toThrow("no longer this worker's");
  await executeRun(world, runId);
  expect(await read(runId)).toMatchObject({ status: "Completed", actionsUsed: 2 });
  expect(keys).toEqual([`${runId}:out`, `${runId}:out`, `${runId}:out`]);
});

const byEndpoint = async (runId: string) => {
  const url = `http://stepwell.test/v1/tools/run/${runId}/cancel`;
  const request = new Request(url, { method: "POST", headers: { "X-API-Key": tenant.key } });
  const response = await handleRest(world, request);
  return [response.status, await response.json()];
};
const byMember = async (runId: string) => {
  const actor = await createMember(world, tenant, "member");
  return createDashboardCaller({ services: world, actor, requestId: "r" }).runs.cancel({ runIds: [runId] });
};

it.each([
  // What it answers is read after the cancel: the worker may have ended the run by then.
  ["the endpoint", byEndpoint, [200, { status: expect.stringMatching(/^(Running|Cancelled)$/) }]],
  ["a member", byMember, { found: 1 }],
])(
  "a call that is under way is aborted when %s cancels the run, which is charged for its use",
  async (_, cancel, answer) => {
    const runId = await start();
    let answered: unknown;
    outside = (_key, signal) =>
      new Promise((_resolve, reject) => {
        signal?.addEventListener("abort", () => reject(signal.reason));
        void cancel(runId).then((got) => {
          answered = got;
        });
      });
    await executeRun(world, runId);
    await expect.poll(() => answered).toMatchObject(answer);
    const run = await read(runId);
    expect(run).toMatchObject({ status: "Cancelled", stepsExecuted: 2, actionsUsed: 1 });
    expect(run.creditsUsed.toString()).toBe("0.01");
    // Again: nothing happens to what has ended.
    await cancel(runId);
    expect(await read(runId)).toEqual(run);
  },
);

it("is charged once though the connection broke while its result was being committed", async () => {
  const runId = await start();
  let committed: Promise<void> | undefined;
  const breakOff = async (statement: QueryConfig): Promise<never> => {
    const client = await world.pool.connect();
    await client.query("BEGIN");
    await client.query(statement);
    const waiting =
      "SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()";
    committed = (async () => {
      await expect.poll(async () => (await world.pool.query(waiting)).rowCount, { timeout: 10_000 }).toBe(1);
      await client.query("COMMIT");
      client.release();
    })();
    throw Object.assign(new Error("read ECONNRESET"), { code: "ECONNRESET" });
  };
  const pool = new Proxy(world.pool, {
    get(target, property) {
      if (property !== "query") return Reflect.get(target, property, target);
      return (statement: QueryConfig, values?: unknown[]) =>
        statement.name === "finish-step" && committed === undefined
          ? breakOff(statement)
          : target.query(statement, values);
    },
  });
  await expect(executeRun({ ...world, pool }, runId, remember)).rejects.toThrow("no longer this worker's");
  await committed;
  await executeRun(world, runId);
  const run = await read(runId);
  expect(run).toMatchObject({ status: "Completed", stepsExecuted: 2, actionsUsed: 2 });
  expect(run.creditsUsed.toString()).toBe("0.02");
});
