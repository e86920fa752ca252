import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, describe, expect, it } from "vitest";
import { z } from "zod";
import type { KEY_SCOPES } from "@/server/base/actor";
import { createModels } from "@/server/work/models/registry";
import { testClock } from "@/testing/clock";
import { startEngine } from "@/testing/execute";
import { expectSoundLedger } from "@/testing/ledger";
import { hasProgram } from "@/testing/programs";
import { startModelServer } from "@/testing/servers/model-server";
import { createKey, openRestServer } from "@/testing/servers/rest-server";
import { openScriptedServer } from "@/testing/servers/scripted-server";
import { createTenant, openWorld, setAgent } from "@/testing/world";

const models = await startModelServer();
const outside = await openScriptedServer({ status: 200, body: { stock: 3 } });
afterAll(() => Promise.all([models.close(), outside.close()]));
const world = await openWorld({
  models: createModels({
    providers: [{ name: "shop", api: "chat", baseUrl: models.url, models: ["gpt-5-mini", "gpt-5"] }],
    clock: testClock(),
  }),
  fetch: (address, init) => fetch(address, init),
});
const { origin } = await openRestServer(world);
startEngine(world);

const plan = { readsPerMinute: 1_000_000, startsPerMinute: null, concurrency: 40 };
const tenant = await createTenant(world, { plan, credits: "1000" });
await setAgent(world, tenant, { functions: ["http_request"], tools: [] });
const key = await createKey(world, tenant);

const url = (item: number) => `${outside.url}/stock/${item}`;
const look = (item: number) => ({ calls: [{ name: "http_request", arguments: { url: url(item) } }] });
models.script("You help.", look(1), look(2), { content: "Six in stock." });
models.script("Be brief.", look(1), look(2), { content: "6." });

async function post(
  path: string,
  body: object,
  { by = key, headers = {} }: { by?: string; headers?: Record<string, string> } = {},
) {
  const response = await fetch(origin + path, {
    method: "POST",
    headers: { "X-API-Key": by, "Content-Type": "application/json", ...headers },
    body: JSON.stringify(body),
  });
  return { status: response.status, headers: response.headers, body: await response.json() };
}

const record = z.looseObject({ id: z.string(), status: z.string() });
async function read(path: string) {
  const response = await fetch(origin + path, { headers: { "X-API-Key": key } });
  const text = await response.text();
  expect(`${response.status} ${text}`).toMatch(/^200 /);
  return record.parse(JSON.parse(text));
}
async function ended(id: string) {
  const isOpen = async () =>
    ["Pending", "Running"].includes((await read(`/v1/agents/run/${id}/status?wait=30`)).status);
  while (await isOpen());
  return read(`/v1/runs/${id}`);
}

async function runAgent(): Promise<string> {
  const { body } = await post(`/v1/agents/run/${tenant.agentId}`, { userMessage: "How many?" });
  expect(await ended(body.id)).toMatchObject({ status: "Completed", output: "Six in stock." });
  return body.id;
}

const BRIEF = { fromStep: 1, changes: { systemPrompt: "Be brief." }, tools: "recorded" };

it("forks recorded runs with a changed prompt without a call outside", () => forkAll(5));
it("forks 100 of them", { tags: "long", timeout: 120_000 }, () => forkAll(100));

async function forkAll(count: number): Promise<void> {
  const runs = await Promise.all(Array.from({ length: count }, runAgent));
  const called = outside.requests.length;
  const asked = models.requests.length;
  const forks = await Promise.all(
    runs.map(async (id) => {
      const { status, body } = await post(`/v1/runs/${id}/fork`, BRIEF);
      expect(status).toBe(200);
      return ended(body.id);
    }),
  );
  expect(outside.requests).toHaveLength(called);
  expect(models.requests.length - asked).toBe(3 * count);
  for (const [index, fork] of forks.entries()) {
    expect(fork).toMatchObject({
      status: "Completed",
      output: "6.",
      stepsExecuted: 2,
      actionsUsed: 0,
      fork: { runId: runs[index], fromStep: 1, tools: "recorded" },
    });
  }
  await expectSoundLedger(world, tenant);
}

describe("the call", () => {
  it("needs definitions:write only for a changed prompt, model or tool version", async () => {
    const runId = await runAgent();
    const withScopes = (...scopes: (typeof KEY_SCOPES)[number][]) => createKey(world, tenant, { scopes });
    const by = await withScopes("runs:start", "runs:read");
    const rejected = await post(`/v1/runs/${runId}/fork`, BRIEF, { by });
    expect([rejected.status, rejected.body.code]).toEqual([403, "forbidden"]);
    expect(rejected.body.message).toMatch(/lacks the scope definitions:write, which changes of systemPrompt/);
    const changes = { output: { stock: 9 } };
    expect((await post(`/v1/runs/${runId}/fork`, { ...BRIEF, changes }, { by })).status).toBe(200);
    const reader = await withScopes("runs:read");
    expect((await post(`/v1/runs/${runId}/fork`, BRIEF, { by: reader })).status).toBe(403);
    const starter = await withScopes("runs:start");
    expect((await post(`/v1/runs/${runId}/fork`, BRIEF, { by: starter })).status).toBe(403);
  });

  it("is 404 in another organization, for a key of other agents, and 409 for an open run", async () => {
    const runId = await runAgent();
    const others = await createKey(world, await createTenant(world, { plan }));
    expect((await post(`/v1/runs/${runId}/fork`, BRIEF, { by: others })).status).toBe(404);
    const limited = await createKey(world, tenant, { targetIds: [tenant.toolId] });
    expect((await post(`/v1/runs/${runId}/fork`, BRIEF, { by: limited })).status).toBe(404);
    models.script("Wait.", { fault: "hang" });
    const open = await post(`/v1/agents/run/${tenant.agentId}`, { userMessage: "Wait." });
    const rejected = await post(`/v1/runs/${open.body.id}/fork`, BRIEF);
    expect([rejected.status, rejected.body.code]).toEqual([409, "conflict"]);
    await post(`/v1/runs/${open.body.id}/cancel`, {});
  });

  it("rejects unknown changes, and repeats an answer", async () => {
    const runId = await runAgent();
    const unknown = await post(`/v1/runs/${runId}/fork`, { ...BRIEF, changes: { prompt: "x" } });
    expect(unknown.status).toBe(400);
    const beyond = await post(`/v1/runs/${runId}/fork`, { ...BRIEF, fromStep: 4 });
    expect([beyond.status, beyond.body.issues]).toEqual([
      400,
      [{ path: "/fromStep", message: "must be from 1 to 3. The run has steps 1 to 2" }],
    ]);
    const headers = { "Idempotency-Key": "again" };
    const first = await post(`/v1/runs/${runId}/fork`, BRIEF, { headers });
    const second = await post(`/v1/runs/${runId}/fork`, BRIEF, { headers });
    expect(second.body).toEqual(first.body);
    expect(second.headers.get("Idempotent-Replayed")).toBe("true");
  });

  it("has the agent's deadline, not that of the run's start", async () => {
    const headers = { "X-Deadline-Seconds": "600" };
    const path = `/v1/agents/run/${tenant.agentId}`;
    const { body } = await post(path, { userMessage: "How many?" }, { headers });
    await ended(body.id);
    const deadlineOf = async (id: string) =>
      (await world.db.run.findUniqueOrThrow({ where: { id } })).deadlineSeconds;
    expect(await deadlineOf(body.id)).toBe(600);
    const forked = await post(`/v1/runs/${body.id}/fork`, BRIEF);
    expect(await deadlineOf(forked.body.id)).toBe(900);
  });

  it("keeps the run's metadata beside other options, as a rerun does", async () => {
    const metadata = { "X-Metadata": '{"customer":"acme"}' };
    const path = `/v1/agents/run/${tenant.agentId}`;
    const { body } = await post(path, { userMessage: "How many?" }, { headers: metadata });
    await ended(body.id);
    for (const [call, request] of [
      ["fork", BRIEF],
      ["rerun", {}],
    ] as const) {
      const headers = { "X-Max-Credits": "0.5" };
      const again = await post(`/v1/runs/${body.id}/${call}`, request, { headers });
      expect((await ended(again.body.id)).metadata).toEqual({ customer: "acme" });
      const own = { ...headers, "X-Metadata": '{"order":42}' };
      const changed = await post(`/v1/runs/${body.id}/${call}`, request, { headers: own });
      expect((await ended(changed.body.id)).metadata).toEqual({ order: 42 });
    }
  });

  it("with dryRun names costs and side effects, and starts nothing", async () => {
    const runId = await runAgent();
    const count = () => world.db.run.count({ where: { organizationId: tenant.orgId } });
    const before = await count();
    const live = { ...BRIEF, fromStep: 2, tools: "live", dryRun: true };
    const { body, headers } = await post(`/v1/runs/${runId}/fork`, live, {
      headers: { "X-Max-Credits": "0.5" },
    });
    expect(headers.get("RateLimit-Policy")).toBe('"reads";q=1000000;w=60');
    expect(body).toEqual({
      fromStep: 2,
      takenOver: 1,
      hold: expect.stringMatching(/^0\.\d{4}$/),
      mostCredits: "0.5000",
      sameUsage: expect.stringMatching(/^0\.\d{4}$/),
      sideEffects: [{ name: "http_request", step: null }],
      issues: [],
    });
    expect(await count()).toBe(before);
    expect((await post(`/v1/runs/${runId}/fork`, { ...live, fromStep: 9 })).status).toBe(400);
  });
});

const PAGE = readFileSync(join(import.meta.dirname, "../../../docs/fork.md"), "utf8");
const SAMPLES = [...PAGE.matchAll(/^```sh run\n([\s\S]*?)^```$/gm)].map(([, code = ""]) => code);

it.skipIf(!["sh", "curl"].every(hasProgram))("the samples of the guide work", async () => {
  const env = { ...process.env, BASE: origin, KEY: key, RUN_ID: await runAgent() };
  const answers = [];
  for (const code of SAMPLES) {
    const { stdout } = await promisify(execFile)("sh", ["-euc", code], { env });
    answers.push(JSON.parse(stdout));
  }
  expect(answers).toEqual([
    expect.objectContaining({ success: true }),
    expect.objectContaining({ sideEffects: [{ name: "http_request", step: null }] }),
  ]);
});
