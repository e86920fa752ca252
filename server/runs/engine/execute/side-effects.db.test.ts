import { beforeEach, expect, it } from "vitest";
import { createDashboardCaller } from "@/server/api/dashboard/router";
import { handleRest } from "@/server/api/rest";
import { newId } from "@/server/base/ids";
import { createGuardedEgress, type EgressOptions } from "@/server/guard/egress/guarded-fetch";
import { startRun } from "@/server/runs/start";
import { executeRun, executeSegment, replaceWorker } from "@/testing/execute";
import { createMember } from "@/testing/runs";
import { insertTool } from "@/testing/tools";
import { createTenant, createWorld, openWorld } from "@/testing/world";
import { admitWaitingRuns } from "../claim";
import { WorkerLost } from "../write/writer";

let outside: (key: string | null, signal: AbortSignal | null | undefined) => Promise<Response>;

const world = await openWorld({
  fetch: (_url, init) => outside(new Headers(init?.headers).get("idempotency-key"), init?.signal),
});
const tenant = await createTenant(world);
const toolId = await createCallingTool();
beforeEach(() => {
  outside = async () => new Response("{}");
});

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

const read = (id: string) => world.db.run.findUniqueOrThrow({ where: { id } });

async function start(): Promise<string> {
  const actor = { kind: "operator", orgId: tenant.orgId, name: "test" } as const;
  return (await startRun(world, actor, { kind: "tool", targetId: toolId, input: {} })).runId;
}

it("happen after everything before them is committed", async () => {
  const runId = await start();
  let committed: string[] = [];
  outside = async () => {
    const steps = await world.db.step.findMany({ where: { runId, status: "Completed" } });
    committed = steps.map(({ key }) => key);
    return new Response("{}");
  };
  await executeRun(world, runId);
  expect(committed).toEqual(["before"]);
});

it("sends the same key with each attempt of a step, also after a crash in the middle of one", async () => {
  const keys: (string | null)[] = [];
  const runId = await start();
  const beside = await createWorld({ beside: world, fetch: world.fetch });
  outside = async (key) => {
    keys.push(key);
    if (keys.length === 1) throw new Error("connection reset");
    if (keys.length === 2) await replaceWorker(beside);
    return new Response("{}");
  };
  await admitWaitingRuns(world, { worker: null, slots: 1_000 });
  await expect(executeSegment(beside, runId)).rejects.toThrow(WorkerLost);
  await beside.close();
  await executeRun(world, runId);
  expect(await read(runId)).toMatchObject({ status: "Completed", actionsUsed: 2 });
  expect(keys).toEqual([`${runId}:out`, `${runId}:out`, `${runId}:out`]);
});

it.each([
  ["http://127.0.0.1:9/", 1, "call_rejected"],
  ["http://name.invalid:8089/", 3, "call_failed"],
])("are retried unless the address is rejected: %s", async (address, attempts, code) => {
  const lookup: EgressOptions["lookup"] = (_name, _options, callback) =>
    callback(Object.assign(new Error("not found"), { code: "ENOTFOUND" }), []);
  const egress = createGuardedEgress({ lookup });
  outside = () => egress.fetch(address);
  const runId = await start();
  await executeRun(world, runId);
  await egress.close();
  const step = await world.db.step.findFirstOrThrow({ where: { runId, toolName: "http_request" } });
  expect(JSON.parse(step.attempts)).toHaveLength(attempts);
  expect(JSON.parse(step.output ?? "")).toMatchObject({ code });
});

it.each([
  ["parse_csv", { text: '"open' }, "invalid_csv"],
  ["current_time", { timezone: "{{ 'Mars/Base' }}" }, "unknown_timezone"],
  ["send_email", { to: "ada@x.test", subject: "Hi", text: "Hi" }, "not_configured"],
  ["generate_text", { prompt: "Hi", schema: "{{ {'type': 'x'} }}" }, "invalid_schema"],
])("%s is not retried after a failure that stays the same", async (uses, input, code) => {
  const steps = [{ id: "one", uses, with: input, retries: { count: 1, firstWaitMs: 0 } }];
  const targetId = await insertTool(world, tenant, { slug: uses.replace("_", "-"), definition: { steps } });
  const actor = { kind: "operator", orgId: tenant.orgId, name: "test" } as const;
  const { runId } = await startRun(world, actor, { kind: "tool", targetId, input: {} });
  await executeRun(world, runId);
  const step = await world.db.step.findFirstOrThrow({ where: { runId } });
  expect(JSON.parse(step.output ?? "")).toMatchObject({ code });
  expect(JSON.parse(step.attempts)).toHaveLength(1);
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
  // Its response is read after the cancel. The worker may have ended the run by then; a cancelled tool is Failed in the API.
  ["the endpoint", byEndpoint, [200, { status: expect.stringMatching(/^(Running|Failed)$/) }]],
  ["a member", byMember, { found: 1 }],
])("are aborted when %s cancels the run, which is charged for what it used", async (_, cancel, answer) => {
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
  // Repeated: an ended run does not change.
  await cancel(runId);
  expect(await read(runId)).toEqual(run);
});
