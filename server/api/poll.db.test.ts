import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { createApiKey } from "@/server/catalog/organization/api-keys";
import { cancelRun } from "@/server/runs/cancel";
import { startRun } from "@/server/runs/start";
import { ModelError, type ModelRequest } from "@/server/work/models/port";
import { testClock } from "@/testing/clock";
import { createProcess, type TestProcess } from "@/testing/process";
import { createTenant, createWorld, quietModels, type Tenant, type World } from "@/testing/world";
import type { ApiRequest, ApiResponse } from "./http/api-request";
import { respondToPoll } from "./poll";
import { respondToRest } from "./rest";

/** Polls from memory equal the complete path byte for byte. */

let world: World;
let own: TestProcess;
let other: TestProcess;
let tenant: Tenant;

beforeAll(async () => {
  world = await createWorld();
  own = createProcess(world, { call: answerByPrompt });
  other = createProcess(world);
  await own.engine.execute();
  other.notifications.open();
  tenant = await createTenant(world);
  await world.db.plan.updateMany({ data: { readsPerMinute: null, startsPerMinute: null } });
  await vi.waitFor(
    () => expect([own, other].every(({ notifications }) => notifications.fresh())).toBe(true),
    20_000,
  );
  // A tool whose only step calls the model with its input.
  const definition = {
    parameters: { type: "object" },
    steps: [{ id: "text", uses: "generate_text", with: { prompt: "{{ input.prompt }}" } }],
    output: { text: "{{ steps.text }}" },
  };
  await world.db.toolVersion.updateMany({
    where: { toolId: tenant.toolId },
    data: { definition: JSON.stringify(definition) },
  });
});
afterAll(async () => {
  await own.stop();
  await other.stop();
  await world.close();
});

// Texts that JSON and PostgreSQL store differently: U+0000 and half of a surrogate pair.
const ODD = "a\u0000b\ud800c";

async function answerByPrompt(request: ModelRequest) {
  const prompt = request.messages.findLast(({ role }) => role === "user")?.content.split(" ")[0];
  const base = await quietModels.call(request);
  if (prompt === "fail") throw new ModelError(`Rejected: ${ODD}`, { reason: "rejected", attempts: [] });
  if (prompt === "hang") {
    return new Promise<never>((_resolve, reject) => {
      request.signal.addEventListener("abort", () => reject(request.signal.reason), { once: true });
    });
  }
  const asked = request.messages.some(({ role }) => role === "tool") || request.tools.length === 0;
  const toolCalls = [{ id: "a", name: "calculate", arguments: '{"expression":"1+1"}' }];
  return asked ? { ...base, content: `Done: ${ODD}` } : { ...base, content: "Let me see.", toolCalls };
}

type Kind = "agent" | "tool";

async function start(kind: Kind, prompt: string, by = tenant): Promise<string> {
  const actor = { kind: "operator", orgId: by.orgId, name: "test" } as const;
  const { runId } = await startRun(
    own,
    actor,
    kind === "agent"
      ? { kind, targetId: by.agentId, userMessage: `${prompt} ${ODD}` }
      : { kind, targetId: by.toolId, input: { prompt: `${prompt} ${ODD}` } },
  );
  return runId;
}

const STATES: Record<string, (kind: Kind) => Promise<string>> = {
  finished: async (kind) => untilEnded(await start(kind, "finish")),
  failed: async (kind) => untilEnded(await start(kind, "fail")),
  async cancelled(kind) {
    const runId = await start(kind, "hang");
    await expect.poll(() => own.engine.find(runId)).toBeDefined();
    await cancelRun(own, tenant.orgId, { runId, by: "Ada" });
    return untilEnded(runId);
  },
};

async function untilEnded(runId: string): Promise<string> {
  await vi.waitFor(() => expect(own.endedRuns.get(runId)).toBeDefined(), 20_000);
  return runId;
}

function request(path: string, key: string): ApiRequest {
  return {
    method: "GET",
    path,
    query: "",
    header: (name) => (name === "x-api-key" ? key : null),
    headers: () => [["x-api-key", key]],
    peer: "127.0.0.1",
    signal: new AbortController().signal,
    readBody: async () => Buffer.alloc(0),
  };
}

const pathOf = (kind: Kind, runId: string, view: string) => `/v1/${kind}s/run/${runId}/${view}`;
const viewsOf = (kind: Kind) => (kind === "agent" ? ["status", "details"] : ["status", "result"]);
const ask = (services: TestProcess, path: string, key = tenant.key) =>
  respondToRest(services, request(path, key));

async function responseOfPoll(path: string, key = tenant.key) {
  const poll = await respondToPoll(own, path, { "x-api-key": key });
  return poll && withoutRequestId(poll);
}

function withoutRequestId({ status, headers: { "X-Request-Id": _, ...headers }, body, orgId }: ApiResponse) {
  return { status, headers, body: body.toString(), orgId };
}

describe.each(["agent", "tool"] as const)("a poll of an %s run", (kind) => {
  it.each(Object.keys(STATES))(
    "that has %s is answered the same from memory, through the handler and by another process",
    async (state) => {
      const runId = (await STATES[state]?.(kind)) ?? "";
      for (const view of viewsOf(kind)) {
        const path = pathOf(kind, runId, view);
        const elsewhere = withoutRequestId(await ask(other, path));
        expect(JSON.parse(elsewhere.body)).toMatchObject({ id: runId });
        expect(withoutRequestId(await ask(own, path))).toEqual(elsewhere);
        expect(await responseOfPoll(path)).toEqual(elsewhere);
        // Cached bodies are sent unchanged.
        expect(await responseOfPoll(path)).toEqual(elsewhere);
      }
    },
  );

  it("that executes is answered the same from memory and by another process; details and result use the handler", async () => {
    const runId = await start(kind, "hang");
    // The model call is shown as started; the run changes no more.
    const isShown = async () => (await world.db.modelCall.count({ where: { runId } })) === 1;
    await expect.poll(isShown).toBe(true);
    own.clock = testClock(new Date());
    other.clock = own.clock;
    try {
      for (const view of viewsOf(kind)) {
        const path = pathOf(kind, runId, view);
        const elsewhere = withoutRequestId(await ask(other, path));
        expect(JSON.parse(elsewhere.body)).toMatchObject({ id: runId, status: "Running" });
        expect(withoutRequestId(await ask(own, path))).toEqual(elsewhere);
        expect(await responseOfPoll(path)).toEqual(view === "status" ? elsewhere : null);
      }
    } finally {
      await cancelRun(own, tenant.orgId, { runId, by: "Ada" });
    }
  });
});

it("a run that starts at once is answered from memory as soon as its start is, also before any read is leased", async () => {
  for (const [index, kind] of (["agent", "tool"] as const).entries()) {
    const known = await start(kind, "hang");
    await ask(own, pathOf(kind, known, "status"));
    // The block of the last read has expired.
    own.clock = testClock(new Date(Date.now() + 2_000 * (index + 1)));
    const runId = await start(kind, "hang");
    const path = pathOf(kind, runId, "status");
    const poll = await responseOfPoll(path);
    expect(JSON.parse(poll?.body ?? "null")).toMatchObject({ id: runId, status: "Running" });
    for (const id of [known, runId]) await cancelRun(own, tenant.orgId, { runId: id, by: "Ada" });
  }
});

it("a cancel aborts the run here, also if its id is in upper case", async () => {
  const runId = await start("agent", "hang");
  const path = pathOf("agent", runId.toUpperCase(), "cancel");
  using abort = vi.spyOn(own.engine, "abort");
  const { status } = await respondToRest(own, { ...request(path, tenant.key), method: "POST" });
  expect(status).toBe(200);
  expect(abort).toHaveBeenCalledWith(runId);
});

describe("a poll is left to the handler", () => {
  let runId: string;
  let path: string;
  beforeAll(async () => {
    runId = await untilEnded(await start("agent", "finish"));
    path = pathOf("agent", runId, "status");
    await ask(own, path);
    expect(await responseOfPoll(path)).not.toBeNull();
  });

  // The first calls fill the caches, so that memory could answer.
  async function expectCompletePath(target: string, key: string, status: number): Promise<void> {
    for (let n = 0; n < 2; n += 1) expect((await ask(own, target, key)).status).toBe(status);
    expect(await respondToPoll(own, target, { "x-api-key": key })).toBeNull();
  }

  it("for another organization's run", async () => {
    const stranger = await createTenant(world);
    await expectCompletePath(path, stranger.key, 404);
  });

  it("for a run of the other kind, and for similar paths", async () => {
    await expectCompletePath(pathOf("tool", runId, "status"), tenant.key, 404);
    await expectCompletePath(pathOf("tool", runId, "result"), tenant.key, 404);
    await expectCompletePath(pathOf("agent", runId, "result"), tenant.key, 404);
    await expectCompletePath(`${path}/`, tenant.key, 404);
    await expectCompletePath(pathOf("agent", runId.toUpperCase(), "status"), tenant.key, 200);
    expect(await respondToPoll(own, `${path}?x=1`, { "x-api-key": tenant.key })).toBeNull();
  });

  it("without a key, and with an unknown one", async () => {
    expect(await respondToPoll(own, path, {})).toBeNull();
    expect(await respondToPoll(own, path, { "x-api-key": "sw_live_unknown" })).toBeNull();
  });

  it("with a key that is limited to some targets", async () => {
    const actor = { kind: "operator", orgId: tenant.orgId, name: "test" } as const;
    const limited = await createApiKey(own, actor, { name: "limited", agents: ["helper"] });
    await expectCompletePath(path, limited.key, 200);
    const elsewhere = await createApiKey(own, actor, { name: "elsewhere", tools: ["adder"] });
    await expectCompletePath(path, elsewhere.key, 404);
  });

  it("with a key that lacks the scope", async () => {
    const actor = { kind: "operator", orgId: tenant.orgId, name: "test" } as const;
    const starter = await createApiKey(own, actor, { name: "starter", scopes: ["runs:start"] });
    await expectCompletePath(path, starter.key, 403);
  });

  it("when the reads are used up", async () => {
    const limited = await createTenant(world, { plan: { readsPerMinute: 3 } });
    const mine = pathOf("agent", await untilEnded(await start("agent", "finish", limited)), "status");
    const statuses: (number | undefined)[] = [];
    for (let n = 0; n < 5; n += 1) {
      const poll = await respondToPoll(own, mine, { "x-api-key": limited.key });
      statuses.push(poll === null ? (await ask(own, mine, limited.key)).status : 200);
    }
    expect(statuses).toEqual([200, 200, 200, 429, 429]);
    const rejected = await ask(own, mine, limited.key);
    expect(rejected.headers).toMatchObject({ "Retry-After": expect.any(String) });
    expect(await respondToPoll(own, mine, { "x-api-key": limited.key })).toBeNull();
  });

  it.each([
    ["when the organization is suspended", { suspendedAt: new Date() }, {}, "organization_suspended"],
    ["when the plan has no API access", {}, { apiAccess: false }, "api_access_disabled"],
  ])("%s", async (_, organization, plan, code) => {
    const gone = await createTenant(world);
    const mine = pathOf("agent", await untilEnded(await start("agent", "finish", gone)), "status");
    expect((await ask(own, mine, gone.key)).status).toBe(200);
    await world.db.organization.update({ where: { id: gone.orgId }, data: organization });
    await world.db.plan.update({ where: { organizationId: gone.orgId }, data: plan });
    await expect.poll(async () => (await ask(own, mine, gone.key)).status).toBe(403);
    expect(JSON.parse((await ask(own, mine, gone.key)).body.toString())).toMatchObject({ code });
    await expectCompletePath(mine, gone.key, 403);
  });
});
