import { describe, expect, it } from "vitest";
import { KEY_SCOPES } from "@/server/base/actor";
import { newId } from "@/server/base/ids";
import { applyDefinitionFile } from "@/server/catalog/definition-file/apply";
import { executeRun } from "@/testing/execute";
import { insertRun } from "@/testing/runs";
import { createKey, openRestServer } from "@/testing/servers/rest-server";
import { createTenant, createTrigger, openWorld, type Tenant } from "@/testing/world";
import { handleWebhook } from "../webhook";
import { ENDPOINTS } from "./endpoints";

const world = await openWorld();
const { call, origin } = await openRestServer(world);
const plan = { readsPerMinute: null, startsPerMinute: null };
const tenant = await createTenant(world, { plan });
const stranger = await createTenant(world, { plan });
const key = await createKey(world, tenant);
const othersKey = await createKey(world, stranger);
const limited = await createKey(world, tenant, { targetIds: [tenant.toolId] });
const get = (path: string, by = key, headers = {}) => call(path, { key: by, headers });
const post = (path: string, by = key, headers = {}) => call(path, { method: "POST", key: by, headers });

const agentTrigger = await createTrigger(world, tenant);
const toolTrigger = await createTrigger(world, tenant, { target: "tool" });
async function deliver(token: string, body: string): Promise<string> {
  const request = new Request(`http://stepwell.test/webhooks/${token}`, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body,
  });
  await handleWebhook(world, request);
  const [newest] = (await get("/v1/deliveries?limit=1")).body.data;
  return newest.id;
}
const toAgent = await deliver(agentTrigger.token, '{"hello":1}');
const toTool = await deliver(toolTrigger.token, '{"a":1,"b":2}');
const rejected = await deliver(toolTrigger.token, '{"a":"x"}');
await insertRun(world, tenant, { source: "webhook", triggerId: toolTrigger.id });
const agentRun = await insertRun(world, tenant, {
  kind: "agent",
  source: "api",
  credits: "0.5000",
  tokens: 7,
});

const realRun = (await post(`/v1/runs/${agentRun}/rerun`)).body.id;

// A fork needs an ended run: fork.db.test.ts.
const MANAGEMENT = Object.values(ENDPOINTS).filter(
  ({ kind, operationId }) => kind === undefined && operationId !== "forkRun",
);

/** Bodies of a call that succeeds. */
const BODIES: Record<string, object> = {
  createAgent: { slug: "made", name: "Made", model: "gpt-5-mini" },
  createTool: { slug: "made", name: "Made", steps: [{ id: "now", uses: "current_time" }] },
  createTrigger: { slug: "made", agent: "helper" },
  createSchedule: { slug: "made", agent: "helper", cron: "0 8 * * *", message: "Hello" },
  applyDefinitionFile: { organizations: [{ slug: tenant.slug }] },
  createCallback: { slug: "made", url: "https://example.com/runs", events: ["run.completed"] },
};
const ARCHIVED = await createDefinitions("archived");
const IDS: Record<string, string> = {
  ...(await createDefinitions("other")),
  runId: realRun,
  deliveryId: toAgent,
  agentId: tenant.agentId,
  toolId: tenant.toolId,
  triggerId: agentTrigger.id,
};

async function createDefinitions(slug: string): Promise<Record<string, string>> {
  const create = async (path: string, body: object) =>
    (await call(path, { method: "POST", key, body })).body.id;
  return {
    agentId: await create("/v1/agents", { ...BODIES.createAgent, slug }),
    toolId: await create("/v1/tools", { ...BODIES.createTool, slug }),
    triggerId: await create("/v1/triggers", { slug, agent: slug }),
    scheduleId: await create("/v1/schedules", { ...BODIES.createSchedule, slug }),
    callbackId: await create("/v1/callbacks", { ...BODIES.createCallback, slug }),
  };
}

describe.each(MANAGEMENT)("$method $path", (endpoint) => {
  const { method, path, scope, alsoNeeds, parameters, operationId } = endpoint;
  const ids = method === "DELETE" ? ARCHIVED : IDS;
  const pathOf = (path: string) => path.replace(/\{(\w+)\}/, (_, name: string) => ids[name] ?? "");
  const body = endpoint.body && (BODIES[operationId] ?? {});

  it("needs its scopes, which existing keys don't have", async () => {
    const needed = [scope, ...(alsoNeeds ?? [])];
    for (const missing of needed) {
      const scopes = KEY_SCOPES.filter((each) => each !== missing);
      const answer = await call(pathOf(path), {
        method,
        key: await createKey(world, tenant, { scopes }),
        body,
      });
      expect([answer.status, answer.body.message]).toEqual([
        403,
        `The API key lists lacks the scope ${missing}.`,
      ]);
    }
    const enough = await createKey(world, tenant, { scopes: needed });
    expect((await call(pathOf(path), { method, key: enough, body })).status).toBe(200);
  });

  it.runIf(parameters.length > 0)("is 404 in another organization and 400 for a malformed id", async () => {
    expect((await call(pathOf(path), { method, key: othersKey, body })).status).toBe(404);
    const [name = ""] = parameters;
    const unknown = path.replace(`{${name}}`, newId());
    expect((await call(unknown, { method, key, body })).status).toBe(404);
    const malformed = await call(path.replace(`{${name}}`, "x"), { method, key, body });
    expect([malformed.status, malformed.body.message]).toEqual([
      400,
      expect.stringMatching(new RegExp(`: ${name} is not a valid \\w+ id\\.$`)),
    ]);
  });

  it("rejects an unknown parameter, and sends nothing for other origins", async () => {
    const answer = await call(`${pathOf(path)}?statsu=1`, {
      method,
      key,
      body,
      headers: { Origin: "https://a.test" },
    });
    expect(answer.status).toBe(400);
    expect(answer.body.message).toMatch(/^The query parameter statsu is unknown\. This call takes /);
    expect([...answer.headers.keys()].filter((name) => name.startsWith("access-control"))).toEqual([]);
  });
});

describe("one run", () => {
  it("has all facts, as its kind's own endpoint and the list have them", async () => {
    const { body } = await get(`/v1/runs/${agentRun}`);
    expect(body).toMatchObject({
      id: agentRun,
      rootRunId: agentRun,
      inputTokens: 7,
      creditsUsed: "0.5000",
      maxCredits: null,
      input: "{}",
      output: "{}",
    });
    const { data } = (await get("/v1/runs?kind=agent&source=api")).body;
    expect(body).toMatchObject(data.find(({ id }: { id: string }) => id === agentRun));
    expect((await get(`/v1/runs/${agentRun}`, limited)).status).toBe(404);
    expect((await get(`/v1/runs/${agentRun}/receipt`, limited)).status).toBe(404);
  });

  it("has an ETag, with which an unchanged one is 304", async () => {
    const first = await get(`/v1/runs/${agentRun}`);
    const etag = first.headers.get("etag") ?? "";
    expect(etag).toMatch(/^"[\w-]+"$/);
    const again = await get(`/v1/runs/${agentRun}`, key, { "If-None-Match": etag });
    expect([again.status, again.body]).toEqual([304, null]);
  });

  it("is repeated with the same input, once for an Idempotency-Key, and counts as a start", async () => {
    const started = await call(`/v1/tools/run/${tenant.toolId}`, { method: "POST", key });
    expect(started.status).toBe(400);
    const origin = (await get(`/v1/runs?target=${tenant.toolId}&source=webhook`)).body.data[0].id;
    const again = { "Idempotency-Key": "again-1" };
    const first = await post(`/v1/runs/${origin}/rerun`, key, again);
    expect(first.body).toEqual({
      success: true,
      id: expect.any(String),
      status: "Pending",
      message: "Tool run started. Poll its status by its id.",
    });
    const second = await post(`/v1/runs/${origin}/rerun`, key, again);
    expect(second.headers.get("idempotent-replayed")).toBe("true");
    expect(second.body).toEqual(first.body);
    await executeRun(world, first.body.id);
    const { body } = await get(`/v1/runs/${first.body.id}`);
    expect(body).toMatchObject({ status: "Completed", source: "api", output: '{"sum":3}' });
    expect((await post(`/v1/runs/${origin}/rerun`, limited)).status).toBe(200);
    expect((await post(`/v1/runs/${agentRun}/rerun`, limited)).status).toBe(404);
  });

  it("is repeated with a webhook's message, which may be larger than that of other starts", async () => {
    const sent = await createTenant(world, { plan });
    const by = await createKey(world, sent);
    await deliver((await createTrigger(world, sent)).token, JSON.stringify({ text: "x".repeat(300 * 1024) }));
    const [received] = (await get("/v1/runs?source=webhook", by)).body.data;
    const { status, body } = await post(`/v1/runs/${received.id}/rerun`, by);
    expect([status, body.code]).toEqual([200, undefined]);
    const inputOf = async (id: string) => (await world.db.run.findUniqueOrThrow({ where: { id } })).input;
    expect(await inputOf(body.id)).toBe(await inputOf(received.id));
  });

  it("counts every repetition against the key's starts, also a rejected one", async () => {
    const paced = await createTenant(world, { plan: { startsPerMinute: 2 } });
    const by = await createKey(world, paced);
    const run = await insertRun(world, paced, { kind: "agent", input: "Hello" });
    expect((await post(`/v1/runs/${newId()}/rerun`, by)).status).toBe(404);
    expect((await post(`/v1/runs/${run}/rerun`, by)).headers.get("ratelimit")).toMatch(/^"starts";r=0;/);
    expect((await post(`/v1/runs/${run}/rerun`, by)).status).toBe(429);
  });

  it("is cancelled by a key that may start, which sees as much as it may read", async () => {
    const open = await insertRun(world, tenant, { status: "Pending" });
    const startOnly = await createKey(world, tenant, { scopes: ["runs:start"] });
    expect((await post(`/v1/runs/${open}/cancel`, startOnly)).body).toEqual({
      success: true,
      id: open,
      status: "Cancelled",
      message: "The run has ended.",
    });
    const { body } = await post(`/v1/runs/${open}/cancel`);
    expect(body).toMatchObject({
      id: open,
      status: "Cancelled",
      cancelledBy: "the API key lists",
      output: null,
    });
    const other = await insertRun(world, tenant, { kind: "agent", status: "Pending" });
    expect((await post(`/v1/runs/${other}/cancel`, limited)).status).toBe(404);
    expect((await get(`/v1/runs/${other}`)).body.status).toBe("Pending");
  });
});

describe("credits", () => {
  it("are decimals in strings, of the organization only", async () => {
    expect((await get("/v1/credits", othersKey)).body).toEqual({
      available: "100.0000",
      held: "0.0000",
      openRuns: 0,
      monthly: "0.0000",
    });
    const { body } = await get("/v1/credits/entries?kind=grant", othersKey);
    expect(body).toEqual({
      data: [
        {
          sequence: 1,
          kind: "grant",
          amount: "100.0000",
          before: "0.0000",
          after: "100.0000",
          runId: null,
          note: "test",
          createdAt: "2026-11-21T01:22:07.000Z",
        },
      ],
      nextCursor: null,
      applied: { kind: "grant", holds: false, limit: 50 },
    });
  });

  it("come page by page while entries are added", async () => {
    const own = await createTenant(world, { plan });
    const by = await createKey(world, own);
    const spend = async () => {
      const request = { method: "POST", key: own.key, headers: {} };
      const run = await call(`/v1/agents/run/${own.agentId}`, request);
      expect(run.status).toBe(400);
      const id = await insertRun(world, own, { kind: "agent", input: "Hi" });
      await executeRun(world, (await post(`/v1/runs/${id}/rerun`, by)).body.id);
    };
    await spend();
    await spend();
    const all = (await get("/v1/credits/entries?holds=true", by)).body.data;
    const seen: unknown[] = [];
    let cursor = "";
    do {
      const { body } = await get(`/v1/credits/entries?holds=true&limit=2${cursor}`, by);
      seen.push(...body.data);
      if (seen.length < all.length) await spend();
      cursor = body.nextCursor === null ? "" : `&cursor=${body.nextCursor}`;
    } while (cursor !== "");
    expect(seen).toEqual(all);
  });

  it("are 403 for a limited key", async () => {
    for (const path of ["/v1/credits", "/v1/credits/entries"]) {
      const { status, body } = await get(path, limited);
      expect([status, body.code]).toEqual([403, "forbidden"]);
      expect(body.message).toBe(
        "The API key lists is limited to some agents and tools. Credits are those of the organization.",
      );
    }
  });

  it.each([
    [
      "/v1/credits/entries?kind=holds",
      "kind must be one of grant, hold, charge, release, refund, adjustment",
    ],
    ["/v1/credits/entries?holds=yes", "holds must be true or false"],
    ["/v1/credits/entries?cursor=0", "cursor is not valid"],
    ["/v1/deliveries?outcome=ok", "outcome must be one of accepted, repeated, rejected, filtered"],
    ["/v1/deliveries?trigger=orders", "trigger must be an id"],
    ["/v1/agents?status=on", "status must be one of active, inactive"],
    ...["agents", "tools", "triggers", "schedules", "callbacks"].map((path) => [
      `/v1/${path}?cursor=a%00b`,
      "cursor is not valid",
    ]),
    ["/v1/tools?limit=500", "limit must be a whole number from 1 to 200"],
    ["/v1/triggers?target=helper", "target must be an id"],
    ["/v1/metrics?period=2d", "period must be one of 1h, 24h, 7d, 30d, 90d"],
    ["/v1/metrics?first=today&last=2026-11-21", "first must be a day such as 2026-11-21"],
    ["/v1/metrics?key=ci", "key must be an id"],
  ])("400 for %s, with a sentence", async (path, sentence) => {
    const { status, body } = await get(path);
    expect([status, body.message]).toEqual([400, `The request is not valid: ${sentence}.`]);
  });
});

describe("metrics", () => {
  it("count the organization's runs, or those of one subject, and say which", async () => {
    const { body } = await get("/v1/metrics?period=7d");
    expect(body.applied).toEqual({
      from: "2026-11-14T06:00:00.000Z",
      to: "2026-11-21T06:00:00.000Z",
      intervalMs: 21_600_000,
      target: null,
      trigger: null,
      key: null,
      schedule: null,
    });
    expect(body.buckets).toHaveLength(28);
    expect(body.agents).toEqual([expect.objectContaining({ id: tenant.agentId, name: "Helper" })]);
    const one = (await get(`/v1/metrics?period=7d&target=${tenant.agentId}`)).body;
    expect(one.total).toEqual({ ...body.agents[0], id: undefined, name: undefined });
    expect(one.agents).toEqual([]);
    const byTrigger = (await get(`/v1/metrics?trigger=${toolTrigger.id}`)).body;
    expect(byTrigger.total.runs).toBeGreaterThan(0);
    expect((await get("/v1/metrics", othersKey)).body.total.runs).toBe(0);
  });

  it("of a limited key are those of its targets, of another organization's agent 404", async () => {
    const of = (query: string) => get(`/v1/metrics${query}`, limited);
    expect((await of(`?target=${tenant.toolId}`)).body.total.runs).toBeGreaterThan(0);
    for (const query of ["", `?target=${tenant.agentId}`, `?trigger=${toolTrigger.id}`, `?key=${newId()}`]) {
      const { status, body } = await of(query);
      expect([query, status, body.message]).toEqual([
        query,
        403,
        "The API key lists is limited to some agents and tools: target must be one of them.",
      ]);
    }
    expect((await get(`/v1/metrics?target=${tenant.agentId}`, othersKey)).status).toBe(404);
  });

  it.each([
    ["?first=2026-11-01", "first and last must be given together."],
    ["?first=2026-11-02&last=2026-11-01", "days must be 1 to 366 days before 9999"],
    ["?first=9999-12-31&last=9999-12-31", "days must be 1 to 366 days before 9999"],
    ["?period=1h&interval=1d", "interval is not one of the period's"],
    [`?target=${newId()}&key=${newId()}`, "Only one of target, trigger, key and schedule can be given."],
  ])("400 for %s, with a sentence", async (query, sentence) => {
    const { status, body } = await get(`/v1/metrics${query}`);
    expect([status, body.message]).toEqual([400, sentence]);
  });
});

describe("deliveries", () => {
  const ids = async (query: string, by = key) =>
    (await get(`/v1/deliveries${query}`, by)).body.data.map(({ id }: { id: string }) => id);

  it("are listed by trigger and outcome, without bodies", async () => {
    expect(await ids(`?trigger=${toolTrigger.id}`)).toEqual([rejected, toTool]);
    expect(await ids(`?trigger=${toolTrigger.id}&outcome=accepted`)).toEqual([toTool]);
    const { body } = await get(`/v1/deliveries?trigger=${toolTrigger.id}&limit=1`);
    expect(body.data[0]).toEqual({
      id: rejected,
      triggerId: toolTrigger.id,
      receivedAt: "2026-11-21T01:22:07.000Z",
      outcome: "rejected",
      status: 400,
      code: "invalid_request",
      reason: expect.any(String),
      bodyBytes: 9,
      senderId: null,
      redeliveryOf: null,
      runId: null,
    });
    expect(body.nextCursor).toBe(rejected);
  });

  it("come page by page over all triggers while calls arrive", async () => {
    const all = await ids("");
    const seen: string[] = [];
    let cursor = "";
    do {
      const { body } = await get(`/v1/deliveries?limit=1${cursor}`);
      seen.push(body.data[0].id);
      if (seen.length < 3) await deliver(agentTrigger.token, '{"hello":2}');
      cursor = body.nextCursor === null ? "" : `&cursor=${body.nextCursor}`;
    } while (cursor !== "");
    expect(seen).toEqual(all);
  });

  it("of a limited key are those of its targets' triggers, of another organization none", async () => {
    expect(await ids("", limited)).toEqual([rejected, toTool]);
    expect(await ids(`?trigger=${agentTrigger.id}`, limited)).toEqual([]);
    expect(await ids("", othersKey)).toEqual([]);
    expect(await ids(`?trigger=${agentTrigger.id}`, othersKey)).toEqual([]);
    expect((await post(`/v1/deliveries/${toAgent}/redeliver`, limited)).status).toBe(404);
  });

  it("are redelivered once for an Idempotency-Key; a rejected one is recorded", async () => {
    const headers = { "Idempotency-Key": "redeliver-1" };
    const first = await post(`/v1/deliveries/${toTool}/redeliver`, key, headers);
    expect(first.body).toMatchObject({ success: true, status: "Pending" });
    expect((await post(`/v1/deliveries/${toTool}/redeliver`, key, headers)).body).toEqual(first.body);
    const [newest] = (await get("/v1/deliveries?limit=1")).body.data;
    expect(newest).toMatchObject({ outcome: "accepted", redeliveryOf: toTool, runId: first.body.id });
    const again = await post(`/v1/deliveries/${rejected}/redeliver`);
    expect([again.status, again.body.code]).toEqual([400, "invalid_request"]);
    const [last] = (await get("/v1/deliveries?limit=1")).body.data;
    expect(last).toMatchObject({ outcome: "rejected", redeliveryOf: rejected });
  });

  it("are redelivered within the key's cap, and the audit log names the key", async () => {
    const by = await createKey(world, tenant, { maxCredits: "0.5" });
    const again = async (headers?: Record<string, string>) => {
      const { body } = await post(`/v1/deliveries/${toTool}/redeliver`, by, headers);
      const { maxCredits } = await world.db.run.findUniqueOrThrow({ where: { id: body.id } });
      return { runId: body.id, cap: maxCredits?.toFixed(4) };
    };
    const { runId, cap } = await again({ "Idempotency-Key": "redeliver-2" });
    expect(cap).toBe("0.5000");
    expect((await again({ "Idempotency-Key": "redeliver-2" })).runId).toBe(runId);
    const entries = await world.db.auditEntry.findMany({
      where: { organizationId: tenant.orgId, action: "trigger.redelivered", actorName: "key lists" },
    });
    const ofRun = entries.filter(({ changes }) => changes.includes(runId));
    expect(ofRun.map(({ changes }) => JSON.parse(changes))).toEqual([{ deliveryId: toTool, runId }]);
    expect(ofRun[0]?.subjectId).toBe(toolTrigger.id);
    expect((await again({ "X-Max-Credits": "0.2" })).cap).toBe("0.2000");
    expect((await again({ "X-Max-Credits": "0.9" })).cap).toBe("0.5000");
  });

  it("count against the key's starts, also rejected ones", async () => {
    const paced = await createTenant(world, { plan: { startsPerMinute: 2 } });
    const by = await createKey(world, paced);
    expect((await post(`/v1/deliveries/${newId()}/redeliver`, by)).status).toBe(404);
    expect((await post(`/v1/deliveries/${toAgent}/redeliver`, by)).headers.get("ratelimit")).toMatch(
      /^"starts";r=0;/,
    );
    expect((await post(`/v1/deliveries/${toAgent}/redeliver`, by)).status).toBe(429);
  });
});

describe("definitions", () => {
  const slugs = async (path: string, by = key) =>
    (await get(path, by)).body.data.map(({ slug }: { slug: string }) => slug);
  const file = (agents: string[]) => `
organizations:
  - slug: ${tenant.slug}
    agents:
${agents.map((slug) => `      - { slug: ${slug}, name: "Agent ${slug}", model: gpt-5-mini, systemPrompt: Help. }`).join("\n")}`;

  it("are listed by slug, page by page while others are created", async () => {
    await applyDefinitionFile(world, file(["b-agent", "d-agent"]));
    const seen: string[] = [];
    let cursor = "";
    do {
      const { body } = await get(`/v1/agents?limit=1${cursor}`);
      seen.push(body.data[0].slug);
      if (seen.length === 1) await applyDefinitionFile(world, file(["a-agent", "c-agent"]));
      cursor = body.nextCursor === null ? "" : `&cursor=${body.nextCursor}`;
    } while (cursor !== "");
    expect(seen).toEqual(["b-agent", "c-agent", "d-agent", "helper", "made", "other"]);
    expect(await slugs("/v1/agents?status=inactive")).toEqual([]);
    expect(await slugs("/v1/tools")).toEqual(["adder", "made", "other"]);
    expect(await slugs(`/v1/triggers?target=${tenant.toolId}`)).toEqual([`hook-${toolTrigger.id.slice(-8)}`]);
  });

  it("are those of the key's targets and organization", async () => {
    expect(await slugs("/v1/agents", limited)).toEqual([]);
    expect(await slugs("/v1/tools", limited)).toEqual(["adder"]);
    expect(await slugs("/v1/triggers", limited)).toEqual([`hook-${toolTrigger.id.slice(-8)}`]);
    expect((await get(`/v1/agents/${tenant.agentId}`, limited)).status).toBe(404);
    expect((await get(`/v1/triggers/${agentTrigger.id}`, limited)).status).toBe(404);
    expect(await slugs("/v1/agents", othersKey)).toEqual(["helper"]);
    expect(await slugs("/v1/triggers", othersKey)).toEqual([]);
  });

  it("are the entries of a definition file: applying one again changes nothing", async () => {
    const own: Tenant = await createTenant(world, { plan });
    const by = await createKey(world, own);
    const hook = await createTrigger(world, own, { secrets: ["s3cret"] });
    const read = async (path: string) => (await get(path, by)).body;
    const agent = await read(`/v1/agents/${own.agentId}`);
    const tool = await read(`/v1/tools/${own.toolId}`);
    const trigger = await read(`/v1/triggers/${hook.id}`);
    expect(agent).toMatchObject({
      slug: "helper",
      version: 1,
      status: "active",
      versions: [{ number: 1, note: "" }],
    });
    expect(trigger).toMatchObject({ kind: "agent", targetId: own.agentId, status: "active" });
    expect(JSON.stringify(trigger)).not.toMatch(new RegExp(`s3cret|${hook.token}|${world.env.appUrl}`));
    const [agents, tools, triggers] = [agent, tool, trigger].map(({ definition }) => [definition]);
    const [applied] = await applyDefinitionFile(
      world,
      JSON.stringify({ organizations: [{ slug: own.slug, agents, tools, triggers }] }),
    );
    const saved = [applied?.agents, applied?.tools, applied?.triggers].flat().map((item) => item?.saved);
    expect(saved).toEqual(["unchanged", "unchanged", "unchanged"]);
  });

  it("have an ETag that changes with the definition; numbers keep their digits", async () => {
    const own = await createTenant(world, {
      plan,
      parameters: { type: "object", properties: { a: { type: "integer" }, b: { type: "integer" } } },
    });
    const by = await createKey(world, own);
    const path = `/v1/tools/${own.toolId}`;
    const first = await get(path, by);
    const etag = first.headers.get("etag") ?? "";
    expect((await get(path, by, { "If-None-Match": etag })).status).toBe(304);
    await world.pool.query(
      `UPDATE tool_versions SET definition = replace(definition, '"integer"', '"integer","maximum":8202522731445525542')
       WHERE tool_id = $1`,
      [own.toolId],
    );
    const changed = await fetchText(path, by);
    expect(changed.status).toBe(200);
    expect(changed.text).toContain('"maximum":8202522731445525542');
    expect(changed.etag).not.toBe(etag);
  });

  it("GET /v1/agents/run stays 404", async () => {
    const { status, body } = await get("/v1/agents/run");
    expect([status, body.message]).toEqual([404, "There is nothing at this path."]);
  });
});

async function fetchText(path: string, by: string) {
  const response = await fetch(origin + path, { headers: { "X-API-Key": by } });
  return { status: response.status, etag: response.headers.get("etag"), text: await response.text() };
}
