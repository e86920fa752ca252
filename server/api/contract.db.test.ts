import { createHmac } from "node:crypto";
import { afterEach, describe, expect, it } from "vitest";
import { newId } from "@/server/base/ids";
import type { ErrorCode } from "@/server/contract/errors";
import { executeRun } from "@/testing/execute";
import {
  createTenant,
  createTrigger,
  openWorld,
  scriptedModels,
  setAgent,
  type Tenant,
} from "@/testing/world";
import { errorResponses } from "./openapi/responses";
import { handleRest } from "./rest";
import { handleWebhook } from "./webhook";

const world = await openWorld({
  models: scriptedModels(({ responseSchema }) =>
    responseSchema === undefined ? {} : { content: '```json\n{ "n": 1 }\n```' },
  ),
});
const tenant = await createTenant(world, { plan: { startsPerMinute: 100_000, readsPerMinute: 100_000 } });
const stranger = await createTenant(world);
// Shows the cause of an internal error beside the failed test.
afterEach(() => {
  const issues = world.log.entries.splice(0).filter(({ level }) => level === "error");
  for (const issue of issues) console.error(issue.message, issue.fields);
});

type Call = {
  method?: string;
  path: string;
  key?: string | null;
  headers?: Record<string, string>;
  body?: string | Uint8Array<ArrayBuffer>;
};

async function call(handler: typeof handleRest, { method = "POST", path, key, headers = {}, body }: Call) {
  const request = new Request(`http://stepwell.test${path}`, {
    method,
    headers: {
      ...(key === null ? {} : { "X-API-Key": key ?? tenant.key }),
      ...(body === undefined ? {} : { "Content-Type": "application/json" }),
      ...headers,
    },
    ...(body === undefined ? {} : { body }),
  });
  const response = await handler(world, request);
  const text = await response.text();
  return { status: response.status, headers: response.headers, text, body: JSON.parse(text) };
}

const rest = (parts: Call) => call(handleRest, parts);
const hook = (parts: Call) => call(handleWebhook, { key: null, ...parts });

function expectError(answer: Awaited<ReturnType<typeof rest>>, status: number, code: ErrorCode) {
  expect({ status: answer.status, code: answer.body.code }).toEqual({ status, code });
  expect(answer.body.success).toBe(false);
  expect(answer.body.message).toEqual(expect.any(String));
  expect(answer.body.requestId).toBe(answer.headers.get("x-request-id"));
  expect(answer.headers.get("content-type")).toMatch(/^application\/json/);
  const sent = [...answer.headers.keys()].filter((name) => !/^(content-type|cache-control)$/.test(name));
  for (const [name, { headers, content }] of Object.entries(errorResponses())) {
    if ((name === "CompressedBody") !== (status === 415)) continue;
    if (!(code in content["application/json"].examples)) continue;
    expect(Object.keys(headers).map((name) => name.toLowerCase())).toEqual(expect.arrayContaining(sent));
  }
}

async function startAgent(who: Tenant = tenant): Promise<string> {
  const answer = await rest({
    path: `/v1/agents/run/${who.agentId}`,
    key: who.key,
    body: JSON.stringify({ userMessage: "Hello" }),
  });
  expect(answer.status).toBe(200);
  return answer.body.id;
}

async function startTool(who: Tenant = tenant): Promise<string> {
  const answer = await rest({ path: `/v1/tools/run/${who.toolId}`, key: who.key, body: '{"a":1,"b":2}' });
  expect(answer.status).toBe(200);
  return answer.body.id;
}

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

describe("starts", () => {
  it("starts an agent: 200 and exactly the run-start response", async () => {
    const answer = await rest({
      path: `/v1/agents/run/${tenant.agentId}`,
      body: JSON.stringify({ userMessage: "Hello", other: "ignored" }),
    });
    expect(answer.status).toBe(200);
    expect(answer.body).toEqual({
      success: true,
      id: expect.stringMatching(UUID),
      status: "Pending",
      message: expect.any(String),
    });
    expect(answer.headers.get("x-request-id")).toMatch(UUID);
    const run = await world.db.run.findUniqueOrThrow({ where: { id: answer.body.id } });
    expect(run).toMatchObject({
      status: "Pending",
      input: "Hello",
      source: "api",
      apiKeyId: tenant.apiKeyId,
    });
    expect(run.held.toNumber()).toBeGreaterThanOrEqual(0.4);
  });

  it("starts a tool with a body, and keeps a key named toolId", async () => {
    const open = await createTenant(world, { parameters: { type: "object" } });
    const body = JSON.stringify({ toolId: "mine", nested: { __proto__x: 1 }, list: [1, "2", null, true] });
    const answer = await rest({ path: `/v1/tools/run/${open.toolId}`, key: open.key, body });
    expect(answer.status).toBe(200);
    const run = await world.db.run.findUniqueOrThrow({ where: { id: answer.body.id } });
    expect(JSON.parse(run.input)).toEqual(JSON.parse(body));
  });

  it("skips a byte order mark before the JSON, but no second one", async () => {
    const tool = { path: `/v1/tools/run/${tenant.toolId}`, body: '\ufeff{"a":1,"b":2}' };
    const answer = await rest(tool);
    expect(answer.status).toBe(200);
    const run = await world.db.run.findUniqueOrThrow({ where: { id: answer.body.id } });
    expect(run.input).toBe('{"a":1,"b":2}');
    const agent = { path: `/v1/agents/run/${tenant.agentId}`, body: '\ufeff{"userMessage":"Hello"}' };
    expect((await rest(agent)).status).toBe(200);
    expectError(await rest({ ...tool, body: `\ufeff${tool.body}` }), 400, "invalid_request");
  });

  it("keeps a body key __proto__ unchanged", async () => {
    const open = await createTenant(world, { parameters: { type: "object" } });
    const body = '{"__proto__":{"polluted":true},"constructor":1}';
    const answer = await rest({ path: `/v1/tools/run/${open.toolId}`, key: open.key, body });
    expect(answer.status).toBe(200);
    const run = await world.db.run.findUniqueOrThrow({ where: { id: answer.body.id } });
    expect(run.input).toBe(body);
    expect(({} as { polluted?: boolean }).polluted).toBeUndefined();
  });

  it.each([
    ["no body and no content type", undefined, {}],
    ["an empty body with a content type", "", { "Content-Type": "application/json" }],
    ["{}", "{}", {}],
    ["{} with charset=utf-8", "{}", { "Content-Type": "application/json; charset=utf-8" }],
  ])("starts a tool with %s: its input is {}", async (_name, body, headers) => {
    const open = await createTenant(world, { parameters: { type: "object" } });
    const parts = { path: `/v1/tools/run/${open.toolId}`, key: open.key, headers };
    const answer = await rest(body === undefined ? parts : { ...parts, body });
    expect(answer.status).toBe(200);
    const result = await rest({
      method: "GET",
      path: `/v1/tools/run/${answer.body.id}/result`,
      key: open.key,
    });
    expect(result.body.inputData).toBe("{}");
  });
});

describe("errors of endpoints 1 and 2", () => {
  const tool = () => `/v1/tools/run/${tenant.toolId}`;
  const agent = () => `/v1/agents/run/${tenant.agentId}`;
  const message = '{"userMessage":"Hello"}';

  it.each<[string, () => Call, number, ErrorCode]>([
    ["1: a JSON array", () => ({ path: tool(), body: "[]" }), 400, "invalid_request"],
    ["1: a JSON string", () => ({ path: tool(), body: '"x"' }), 400, "invalid_request"],
    ["1: a JSON number", () => ({ path: tool(), body: "1" }), 400, "invalid_request"],
    ["1: null", () => ({ path: tool(), body: "null" }), 400, "invalid_request"],
    ["1: malformed JSON", () => ({ path: tool(), body: "{" }), 400, "invalid_request"],
    ["1: white space alone", () => ({ path: tool(), body: "  " }), 400, "invalid_request"],
    [
      "1: invalid UTF-8",
      () => ({ path: tool(), body: new Uint8Array([0x22, 0xff, 0x22]) }),
      400,
      "invalid_request",
    ],
    ["1: 100,000 nested arrays", () => ({ path: tool(), body: "[".repeat(100_000) }), 400, "invalid_request"],
    [
      "1: another content type",
      () => ({ path: tool(), body: "{}", headers: { "Content-Type": "text/plain" } }),
      400,
      "invalid_request",
    ],
    [
      "1: another charset",
      () => ({ path: tool(), body: "{}", headers: { "Content-Type": "application/json; charset=latin1" } }),
      400,
      "invalid_request",
    ],
    ["1: U+0000", () => ({ path: tool(), body: '{"a":1,"b":2,"c":"\\u0000"}' }), 400, "invalid_request"],
    [
      "1: an unpaired surrogate",
      () => ({ path: tool(), body: '{"a":1,"b":2,"c":"\\ud83d"}' }),
      400,
      "invalid_request",
    ],
    [
      "1: input against the schema",
      () => ({ path: tool(), body: '{"a":"1","b":2}' }),
      400,
      "invalid_request",
    ],
    ["1: malformed id", () => ({ path: "/v1/tools/run/42", body: "{}" }), 400, "invalid_request"],
    [
      "1: malformed percent escape",
      () => ({ path: "/v1/tools/run/%zz", body: "{}" }),
      400,
      "invalid_request",
    ],
    ["1: missing key", () => ({ path: tool(), key: null, body: "{}" }), 401, "unauthenticated"],
    ["1: invalid key", () => ({ path: tool(), key: "sw_live_nope", body: "{}" }), 401, "unauthenticated"],
    ["1: unknown tool", () => ({ path: `/v1/tools/run/${newId()}`, body: "{}" }), 404, "not_found"],
    [
      "1: unknown UUID without a version",
      () => ({ path: "/v1/tools/run/12345678-1234-1234-1234-123456789012", body: "{}" }),
      404,
      "not_found",
    ],
    ["1: an agent's id", () => ({ path: `/v1/tools/run/${tenant.agentId}`, body: "{}" }), 404, "not_found"],
    [
      "1: another organization's tool",
      () => ({ path: `/v1/tools/run/${stranger.toolId}`, body: "{}" }),
      404,
      "not_found",
    ],
    [
      "1: over 1 MiB",
      () => ({ path: tool(), body: JSON.stringify({ a: "x".repeat(1024 * 1024) }) }),
      413,
      "payload_too_large",
    ],
    ["2: no body", () => ({ path: agent() }), 400, "invalid_request"],
    ["2: no userMessage", () => ({ path: agent(), body: "{}" }), 400, "invalid_request"],
    [
      "2: an empty userMessage",
      () => ({ path: agent(), body: '{"userMessage":""}' }),
      400,
      "invalid_request",
    ],
    [
      "2: userMessage is a number, no coercion",
      () => ({ path: agent(), body: '{"userMessage":1}' }),
      400,
      "invalid_request",
    ],
    ["2: U+0000", () => ({ path: agent(), body: '{"userMessage":"a\\u0000b"}' }), 400, "invalid_request"],
    [
      "2: an unpaired surrogate",
      () => ({ path: agent(), body: '{"userMessage":"a\\udc00b"}' }),
      400,
      "invalid_request",
    ],
    ["2: malformed id", () => ({ path: "/v1/agents/run/x", body: message }), 400, "invalid_request"],
    ["2: missing key", () => ({ path: agent(), key: null, body: message }), 401, "unauthenticated"],
    ["2: unknown agent", () => ({ path: `/v1/agents/run/${newId()}`, body: message }), 404, "not_found"],
    [
      "2: another organization's agent",
      () => ({ path: `/v1/agents/run/${stranger.agentId}`, body: message }),
      404,
      "not_found",
    ],
    [
      "2: userMessage over 256 KiB",
      () => ({ path: agent(), body: JSON.stringify({ userMessage: "é".repeat(131_073) }) }),
      413,
      "payload_too_large",
    ],
    ["an unknown path", () => ({ path: "/v1/nothing" }), 404, "not_found"],
    ["a trailing slash", () => ({ path: `${tool()}/`, body: "{}" }), 404, "not_found"],
  ])("%s", async (_name, parts, status, code) => {
    expectError(await rest(parts()), status, code);
  });

  it("names invalid parts of the input by JSON pointers", async () => {
    const answer = await rest({ path: tool(), body: '{"a":"1"}' });
    expect(answer.body.issues).toEqual(expect.arrayContaining([{ path: "/a", message: expect.any(String) }]));
    const issuesOf = async (body: string) => (await rest({ path: agent(), body })).body;
    expect(await issuesOf("{}")).toMatchObject({
      message: "The request is not valid: userMessage is required.",
      issues: [{ path: "/userMessage", message: "userMessage is required" }],
    });
    expect((await issuesOf('{"userMessage":7}')).issues).toEqual([
      { path: "/userMessage", message: "userMessage must be a string" },
    ]);
    expect((await issuesOf('{"userMessage":""}')).issues).toEqual([
      { path: "/userMessage", message: "userMessage must have at least one character" },
    ]);
    expect((await issuesOf("[]")).issues).toEqual([{ path: "", message: "The body must be a JSON object" }]);
  });

  it("takes a userMessage of exactly 256 KiB, escaped or not", async () => {
    const userMessage = "a".repeat(256 * 1024);
    const escaped = `{"userMessage":"${"\\u0061".repeat(256 * 1024)}"}`;
    expect((await rest({ path: agent(), body: JSON.stringify({ userMessage }) })).status).toBe(200);
    expect((await rest({ path: agent(), body: escaped })).status).toBe(200);
  });

  it.each([
    ["DELETE", "/v1/tools/run/x", "POST"],
    ["GET", "/v1/agents/run/x", "POST"],
    ["POST", "/v1/agents/run/x/status", "GET"],
    ["HEAD", "/v1/agents/run/x/details", "GET"],
    ["OPTIONS", "/v1/tools/run/x/result", "GET"],
  ])("405 with Allow: %s %s", async (method, path, allow) => {
    const response = await handleRest(world, new Request(`http://stepwell.test${path}`, { method }));
    expect(response.status).toBe(405);
    expect(response.headers.get("allow")).toBe(allow);
    expect(response.headers.get("access-control-allow-origin")).toBeNull();
  });

  it("2: 400 for an inactive agent", async () => {
    const sleepy = await createTenant(world, { agent: { status: "inactive" } });
    const answer = await rest({ path: `/v1/agents/run/${sleepy.agentId}`, key: sleepy.key, body: message });
    expectError(answer, 400, "agent_inactive");
    expect(answer.body.message).toBe("The agent is inactive.");
  });

  it.each(["agents", "tools"] as const)("%s: 400 without credits, and nothing is written", async (kind) => {
    const poor = await createTenant(world, { credits: "0.009" });
    const path = kind === "agents" ? `/v1/agents/run/${poor.agentId}` : `/v1/tools/run/${poor.toolId}`;
    const body = kind === "agents" ? message : '{"a":1,"b":2}';
    const answer = await rest({ path, key: poor.key, body, headers: { "Idempotency-Key": "k" } });
    expectError(answer, 400, "insufficient_credits");
    expect(answer.body.message).toBe("Insufficient credits.");
    const hold = expect.stringMatching(
      /^The start needs a hold of 0\.\d{4} credits; the balance is 0\.0090$/,
    );
    expect(answer.body.issues).toEqual([{ path: "", message: hold }]);
    expect(await world.db.run.count({ where: { organizationId: poor.orgId } })).toBe(0);
    expect(await world.db.idempotencyKey.count({ where: { organizationId: poor.orgId } })).toBe(0);
  });

  it("403 when the plan has no API access, before the rate and the body are looked at", async () => {
    const closed = await createTenant(world, { plan: { apiAccess: false } });
    const answer = await rest({ path: `/v1/tools/run/${closed.toolId}`, key: closed.key, body: "{" });
    expectError(answer, 403, "api_access_disabled");
  });

  it("403 when the organization is suspended, or the key lacks the scope or the target", async () => {
    const suspended = await createTenant(world);
    await world.db.organization.update({
      where: { id: suspended.orgId },
      data: { suspendedAt: world.clock.now(), suspendedReason: "unpaid" },
    });
    expectError(
      await rest({ path: `/v1/tools/run/${suspended.toolId}`, key: suspended.key, body: "{}" }),
      403,
      "organization_suspended",
    );

    const scoped = await createTenant(world);
    await world.db.apiKey.update({ where: { id: scoped.apiKeyId }, data: { scopes: ["runs:read"] } });
    expectError(
      await rest({ path: `/v1/tools/run/${scoped.toolId}`, key: scoped.key, body: "{}" }),
      403,
      "forbidden",
    );
  });

  it("403 for a target outside the key's list, whatever the body", async () => {
    const limited = await createTenant(world);
    const path = `/v1/tools/run/${limited.toolId}`;
    const headers = { "Idempotency-Key": "once" };
    const body = '{"a":1,"b":2}';
    const before = await rest({ path, key: limited.key, headers, body });
    expect(before.status).toBe(200);
    await world.db.apiKey.update({ where: { id: limited.apiKeyId }, data: { targetIds: [limited.agentId] } });
    expectError(await rest({ path, key: limited.key, headers, body }), 403, "forbidden");
    expectError(await rest({ path, key: limited.key, body: "not JSON" }), 403, "forbidden");
    const status = await rest({ method: "GET", path: `${path}/status`, key: limited.key });
    expectError(status, 404, "not_found");
    const started = await rest({
      method: "GET",
      path: `/v1/tools/run/${before.body.id}/status`,
      key: limited.key,
    });
    expectError(started, 404, "not_found");

    expect(await startAgent(limited)).toMatch(UUID);
    const shouted = { path: `/v1/agents/run/${limited.agentId.toUpperCase()}`, key: limited.key };
    expect((await rest({ ...shouted, body: '{"userMessage":"Hello"}' })).status).toBe(200);
  });

  it("401 for a revoked and for an expired key, saying which", async () => {
    const revoked = await createTenant(world);
    await world.db.apiKey.update({ where: { id: revoked.apiKeyId }, data: { revokedAt: world.clock.now() } });
    const answer = await rest({ path: `/v1/tools/run/${revoked.toolId}`, key: revoked.key });
    expectError(answer, 401, "unauthenticated");
    expect(answer.body.message).toContain("revoked");
    const expired = await createTenant(world);
    await world.db.apiKey.update({ where: { id: expired.apiKeyId }, data: { expiresAt: world.clock.now() } });
    expectError(
      await rest({ path: `/v1/tools/run/${expired.toolId}`, key: expired.key }),
      401,
      "unauthenticated",
    );
  });

  it("429 at the 101st start in 60 s, with Retry-After; rejected calls do not count", async () => {
    const busy = await createTenant(world, { parameters: { type: "object" } });
    const path = `/v1/tools/run/${busy.toolId}`;
    for (let start = 0; start < 100; start += 1) {
      const answer = await rest({ path, key: busy.key });
      expect(answer.status).toBe(200);
      expect(answer.headers.get("ratelimit")).toBe(`"starts";r=${99 - start};t=60`);
    }
    for (let again = 0; again < 3; again += 1) {
      const rejected = await rest({ path, key: busy.key, body: "{" });
      expectError(rejected, 429, "rate_limited");
      expect(rejected.headers.get("retry-after")).toBe("60");
      expect(rejected.headers.get("ratelimit-policy")).toBe('"starts";q=100;w=60');
    }
    const before = world.clock.now();
    world.clock.advance(59_999);
    expectError(await rest({ path, key: busy.key }), 429, "rate_limited");
    world.clock.advance(1);
    expect((await rest({ path, key: busy.key })).status).toBe(200);
    world.clock.set(before);
  });
});

describe("reads, endpoints 3–6", () => {
  it("shows a pending agent run with every field of the specification and no other", async () => {
    const id = await startAgent();
    const { body, status } = await rest({ method: "GET", path: `/v1/agents/run/${id}/status` });
    expect(status).toBe(200);
    expect(body).toEqual({
      id,
      agentId: tenant.agentId,
      status: "Pending",
      userMessage: "Hello",
      finalOutput: null,
      errorMessage: null,
      stepsExecuted: 0,
      tokensUsed: 0,
      actionsUsed: 0,
      creditsUsed: 0,
      createdAt: "2026-11-21T01:22:07.000Z",
      startedAt: null,
      finishedAt: null,
    });
    const details = await rest({ method: "GET", path: `/v1/agents/run/${id}/details` });
    expect(details.body).toEqual({ ...body, steps: [] });
  });

  it.each([
    ["n", { status: "Completed", finalOutput: '{"n":1}', errorMessage: null, tokensUsed: 110 }],
    [
      "m",
      {
        status: "Failed",
        finalOutput: null,
        errorMessage: "The answer does not match the agent's output schema: /m is required.",
        tokensUsed: 330,
      },
    ],
  ])(
    "shows the answer of an agent whose schema requires %s as JSON text or not at all",
    async (required, ended) => {
      const strict = await createTenant(world, { agent: { maxSteps: 2 } });
      await setAgent(world, strict, { outputSchema: { type: "object", required: [required] } });
      const id = await startAgent(strict);
      const path = `/v1/agents/run/${id}/status`;
      const pending = await rest({ method: "GET", path, key: strict.key });
      await executeRun(world, id);
      const { body } = await rest({ method: "GET", path, key: strict.key });
      expect(body).toMatchObject({ ...ended, stepsExecuted: 0, actionsUsed: 0 });
      expect(Object.keys(body)).toEqual(Object.keys(pending.body));
      const details = await rest({ method: "GET", path: `/v1/agents/run/${id}/details`, key: strict.key });
      expect(details.body).toEqual({ ...body, steps: [] });
    },
  );

  it("shows a pending tool run's status and result", async () => {
    const id = await startTool();
    const status = await rest({ method: "GET", path: `/v1/tools/run/${id}/status` });
    expect(status.body).toEqual({
      id,
      toolId: tenant.toolId,
      status: "Pending",
      statusInt: 0,
      errorMessage: null,
      tokensUsed: 0,
      actionsUsed: 0,
      createdAt: "2026-11-21T01:22:07.000Z",
      startedAt: null,
      finishedAt: null,
      duration: 0,
    });
    const result = await rest({ method: "GET", path: `/v1/tools/run/${id}/result` });
    expect(result.body).toEqual({
      id,
      toolId: tenant.toolId,
      toolName: "Adder",
      status: "Pending",
      statusInt: 0,
      inputData: '{"a":1,"b":2}',
      outputData: "null",
      outputSchema: "{}",
      errorMessage: null,
      tokensUsed: 0,
      actionsUsed: 0,
      duration: 0,
    });
  });

  it.each<[string, () => Promise<string>, number, ErrorCode]>([
    ["malformed id", async () => "/v1/agents/run/1/status", 400, "invalid_request"],
    ["unknown id", async () => `/v1/agents/run/${newId()}/status`, 404, "not_found"],
    [
      "unknown UUID without a version",
      async () => "/v1/tools/run/11111111-1111-1111-1111-111111111111/result",
      404,
      "not_found",
    ],
    [
      "another organization's run",
      async () => `/v1/agents/run/${await startAgent(stranger)}/details`,
      404,
      "not_found",
    ],
    [
      "a tool run read as an agent run",
      async () => `/v1/agents/run/${await startTool()}/status`,
      404,
      "not_found",
    ],
    [
      "an agent run read as a tool run",
      async () => `/v1/tools/run/${await startAgent()}/result`,
      404,
      "not_found",
    ],
    [
      "another organization's tool run",
      async () => `/v1/tools/run/${await startTool(stranger)}/status`,
      404,
      "not_found",
    ],
  ])("%s", async (_name, path, status, code) => {
    expectError(await rest({ method: "GET", path: await path() }), status, code);
  });

  it("404 for a deleted run that this process has just read, at the latest after five minutes", async () => {
    const own = await createTenant(world);
    const id = await startTool(own);
    const read = (view: string) => rest({ method: "GET", path: `/v1/tools/run/${id}/${view}`, key: own.key });
    world.clock.advance(1);
    expect((await rest({ path: `/v1/tools/run/${id}/cancel`, key: own.key })).status).toBe(200);
    await world.db.run.delete({ where: { id } });
    await world.db.configuration.deleteMany({ where: { organizationId: own.orgId } });
    expectError(await read("result"), 404, "not_found");
    world.clock.advance(4 * 60_000);
    expect((await read("status")).status).toBe(200);
    // Caching a body does not extend it.
    world.clock.advance(61_000);
    expectError(await read("status"), 404, "not_found");
  });

  it("401 without a key, 429 beyond the plan's reads", async () => {
    const path = `/v1/agents/run/${await startAgent()}/status`;
    expectError(await rest({ method: "GET", path, key: null }), 401, "unauthenticated");
    const slow = await createTenant(world, { plan: { readsPerMinute: 2 } });
    const own = `/v1/agents/run/${await startAgent(slow)}/status`;
    for (const expected of [200, 200, 429]) {
      expect((await rest({ method: "GET", path: own, key: slow.key })).status).toBe(expected);
    }
  });

  it("renders errors as RFC 9457 for those who accept it", async () => {
    const headers = { Accept: "application/problem+json" };
    const answer = await rest({ method: "GET", path: "/v1/agents/run/1/status", headers });
    expect(answer.headers.get("content-type")).toMatch(/^application\/problem\+json/);
    expect(answer.body).toMatchObject({ status: 400, code: "invalid_request", type: "about:blank" });
    expect(answer.body).toMatchObject({ title: "Bad Request", detail: answer.body.message });
  });

  it.each([
    ["application/json, application/problem+json", "application/problem+json"],
    ["text/html, Application/Problem+JSON; q=0.5, application/json; Q=0.4", "application/problem+json"],
    ["application/problem+json, */*", "application/problem+json"],
    ["application/json, application/problem+json;q=0.5", "application/json"],
    ["application/json, application/problem+json;q=0", "application/json"],
    ["application/problem+json;q=0", "application/json"],
    ["application/problem+json-x", "application/json"],
    ["application/*, application/problem+json;q=0.5", "application/json"],
    ["*/*", "application/json"],
  ])("answers to Accept: %s with an error as %s", async (accept, type) => {
    const answer = await rest({
      method: "GET",
      path: "/v1/agents/run/1/status",
      headers: { Accept: accept },
    });
    expect([answer.status, answer.headers.get("content-type")]).toEqual([400, `${type}; charset=utf-8`]);
  });

  it("415 for a compressed body", async () => {
    const headers = { "Content-Encoding": "gzip" };
    const answer = await rest({ path: `/v1/tools/run/${tenant.toolId}`, headers, body: "{}" });
    expectError(answer, 415, "invalid_request");
  });

  it("answers an internal error with a fixed message and logs the cause under its request id", async () => {
    const fail = () => Promise.reject(new Error("secret detail"));
    const pool = new Proxy(world.pool, {
      get: (target, name) => (name === "query" ? fail : Reflect.get(target, name)),
    });
    const request = new Request(`http://stepwell.test/v1/agents/run/${newId()}/status`, {
      headers: { "X-API-Key": tenant.key },
    });
    const response = await handleRest({ ...world, pool }, request);
    const body = await response.json();
    expect(response.status).toBe(500);
    expect(body).toMatchObject({ success: false, code: "internal_error" });
    expect(JSON.stringify(body)).not.toContain("secret detail");
  });
});

describe("cancel, beyond the seven", () => {
  it("ends a pending agent run: 200 with the status view, again and again", async () => {
    const id = await startAgent();
    for (let again = 0; again < 2; again += 1) {
      const answer = await rest({ path: `/v1/agents/run/${id}/cancel` });
      expect(answer.status).toBe(200);
      expect(answer.body).toMatchObject({
        id,
        status: "Cancelled",
        errorMessage: null,
        finishedAt: expect.any(String),
      });
    }
  });

  it("shows a cancelled tool run as Failed/3 and names who cancelled it", async () => {
    const id = await startTool();
    const answer = await rest({ path: `/v1/tools/run/${id}/cancel` });
    expect(answer.body).toMatchObject({
      status: "Failed",
      statusInt: 3,
      errorMessage: "Cancelled by the API key ci.",
    });
  });

  it.each<[string, () => Promise<Call>, number, ErrorCode]>([
    ["malformed id", async () => ({ path: "/v1/agents/run/1/cancel" }), 400, "invalid_request"],
    ["unknown run", async () => ({ path: `/v1/tools/run/${newId()}/cancel` }), 404, "not_found"],
    [
      "another organization's run",
      async () => ({ path: `/v1/agents/run/${await startAgent(stranger)}/cancel` }),
      404,
      "not_found",
    ],
    ["no key", async () => ({ path: `/v1/agents/run/${newId()}/cancel`, key: null }), 401, "unauthenticated"],
  ])("%s", async (_name, parts, status, code) => {
    expectError(await rest(await parts()), status, code);
  });

  it("needs the start scope, and works when no starts are left", async () => {
    const slow = await createTenant(world, { plan: { startsPerMinute: 1 } });
    const id = await startAgent(slow);
    expect((await rest({ path: `/v1/agents/run/${id}/cancel`, key: slow.key })).status).toBe(200);
    await world.db.apiKey.update({ where: { id: slow.apiKeyId }, data: { scopes: ["runs:read"] } });
    expectError(await rest({ path: `/v1/agents/run/${id}/cancel`, key: slow.key }), 403, "forbidden");
  });
});

describe("idempotent starts", () => {
  const path = () => `/v1/agents/run/${tenant.agentId}`;
  const body = '{"userMessage":"Once"}';

  it("replays the first answer, rejects a different request, expires after 24 hours", async () => {
    const headers = { "Idempotency-Key": newId() };
    const first = await rest({ path: path(), body, headers });
    const second = await rest({ path: path(), body, headers });
    expect(second.text).toBe(first.text);
    expect(first.headers.get("idempotent-replayed")).toBeNull();
    expect(second.headers.get("idempotent-replayed")).toBe("true");
    const spelled = path().replace(tenant.agentId, tenant.agentId.toUpperCase().replace("-", "%2D"));
    expect((await rest({ path: spelled, body, headers })).text).toBe(first.text);
    expectError(
      await rest({ path: path(), body: '{"userMessage":"Other"}', headers }),
      409,
      "idempotency_conflict",
    );
    expectError(await rest({ path: path(), body: "{", headers }), 409, "idempotency_conflict");
    expectError(
      await rest({ path: `/v1/tools/run/${tenant.toolId}`, body, headers }),
      409,
      "idempotency_conflict",
    );
    const before = world.clock.now();
    world.clock.advance(24 * 3600 * 1000 + 1);
    const fresh = await rest({ path: path(), body, headers });
    expect(fresh.body.id).not.toBe(first.body.id);
    world.clock.set(before);
  });

  it("does not store rejected starts", async () => {
    const headers = { "Idempotency-Key": newId() };
    expectError(await rest({ path: path(), body: "{}", headers }), 400, "invalid_request");
    expect((await rest({ path: path(), body, headers })).status).toBe(200);
  });

  it("starts one run for 50 equal requests at once, also when the credits cover only one", async () => {
    for (const credits of ["100", "0.5"]) {
      const racer = await createTenant(world, { credits });
      const headers = { "Idempotency-Key": "race" };
      const parts = { path: `/v1/agents/run/${racer.agentId}`, key: racer.key, body, headers };
      const answers = await Promise.all(Array.from({ length: 50 }, () => rest(parts)));
      expect(new Set(answers.map((answer) => answer.status))).toEqual(new Set([200]));
      expect(new Set(answers.map((answer) => answer.body.id)).size).toBe(1);
      expect(await world.db.run.count({ where: { organizationId: racer.orgId } })).toBe(1);
    }
  });

  it("lets two organizations use the same key", async () => {
    const headers = { "Idempotency-Key": newId() };
    const mine = await rest({ path: path(), body, headers });
    const theirs = await rest({
      path: `/v1/agents/run/${stranger.agentId}`,
      key: stranger.key,
      body,
      headers,
    });
    expect(theirs.body.id).not.toBe(mine.body.id);
  });
});

describe("webhooks, endpoint 7", () => {
  it("starts an agent with the body, byte for byte, as its message", async () => {
    const trigger = await createTrigger(world, tenant);
    const body = '{ "event" : "order.created",\n "n": 1.0 }';
    const answer = await hook({ path: `/webhooks/${trigger.token}`, body });
    expect(answer.status).toBe(200);
    expect(answer.body).toEqual({ success: true, runId: expect.stringMatching(UUID), type: "agent" });
    const run = await world.db.run.findUniqueOrThrow({ where: { id: answer.body.runId } });
    expect(run).toMatchObject({ input: body, source: "webhook", triggerId: trigger.id, status: "Pending" });
    const delivery = await world.db.delivery.findFirstOrThrow({ where: { triggerId: trigger.id } });
    expect(delivery).toMatchObject({ outcome: "accepted", status: 200, runId: answer.body.runId });
    expect(Buffer.from(delivery.body).toString()).toBe(body);
  });

  it("starts a tool with the body as its input", async () => {
    const trigger = await createTrigger(world, tenant, { target: "tool" });
    const answer = await hook({ path: `/webhooks/${trigger.token}`, body: '{"a":1,"b":2}' });
    expect(answer.body.type).toBe("tool");
  });

  it("skips a byte order mark before the JSON; signatures cover it, and an agent's message keeps it", async () => {
    const secret = "s3cret";
    const body = '\ufeff{"a":1,"b":2}';
    const sign = (text: string) => ({
      "X-Signature": createHmac("sha256", secret).update(text).digest("hex"),
    });
    for (const [target, input] of [
      ["tool", body.slice(1)],
      ["agent", body],
    ] as const) {
      const { token } = await createTrigger(world, tenant, { target, secrets: [secret] });
      const answer = await hook({ path: `/webhooks/${token}`, body, headers: sign(body) });
      expect(answer.status).toBe(200);
      const run = await world.db.run.findUniqueOrThrow({ where: { id: answer.body.runId } });
      expect(run.input).toBe(input);
      const unmarked = sign(body.slice(1));
      expectError(
        await hook({ path: `/webhooks/${token}`, body, headers: unmarked }),
        401,
        "invalid_signature",
      );
    }
  });

  it.each<[string, Parameters<typeof createTrigger>[2], Omit<Call, "path">, number, ErrorCode]>([
    [
      "no content type",
      {},
      { body: new TextEncoder().encode("{}"), headers: { "Content-Type": "" } },
      400,
      "invalid_request",
    ],
    ["not JSON", {}, { body: "hello" }, 400, "invalid_request"],
    ["an empty body", {}, { body: "" }, 400, "invalid_request"],
    ["invalid UTF-8", {}, { body: new Uint8Array([0x22, 0xc3, 0x22]) }, 400, "invalid_request"],
    ["over 1 MiB", {}, { body: JSON.stringify("x".repeat(1024 * 1024)) }, 413, "payload_too_large"],
    ["a tool's input that is not an object", { target: "tool" }, { body: "[1]" }, 400, "invalid_request"],
    ["a tool's input against its schema", { target: "tool" }, { body: '{"a":1}' }, 400, "invalid_request"],
    ["a disabled trigger", { disabled: true }, { body: "{}" }, 400, "trigger_misconfigured"],
    ["a missing signature", { secrets: ["s3cret"] }, { body: "{}" }, 401, "invalid_signature"],
    [
      "a forged signature",
      { secrets: ["s3cret"] },
      { body: "{}", headers: { "X-Signature": "0".repeat(64) } },
      401,
      "invalid_signature",
    ],
    [
      "no signature at all in the header",
      { secrets: ["s3cret"] },
      { body: "{}", headers: { "X-Signature": "zz" } },
      401,
      "invalid_signature",
    ],
  ])(
    "%s: rejected, and stored as a delivery with its reason",
    async (_name, options, parts, status, code) => {
      const trigger = await createTrigger(world, tenant, options);
      const answer = await hook({ path: `/webhooks/${trigger.token}`, ...parts });
      expectError(answer, status, code);
      const delivery = await world.db.delivery.findFirstOrThrow({ where: { triggerId: trigger.id } });
      expect(delivery).toMatchObject({
        outcome: "rejected",
        status,
        code,
        reason: answer.body.message,
        runId: null,
      });
    },
  );

  it("404 for an unknown token, 429 for an address that tries more than 60 in a minute", async () => {
    for (let attempt = 0; attempt < 60; attempt += 1) {
      expectError(await hook({ path: `/webhooks/unknown-${attempt}`, body: "{}" }), 404, "not_found");
    }
    expectError(await hook({ path: "/webhooks/unknown", body: "{}" }), 429, "rate_limited");
    const elsewhere = { "x-stepwell-peer": "192.0.2.7" };
    expectError(await hook({ path: "/webhooks/unknown", body: "{}", headers: elsewhere }), 404, "not_found");
  });

  it("405 with Allow for another method", async () => {
    const response = await handleWebhook(world, new Request("http://stepwell.test/webhooks/x"));
    expect(response.status).toBe(405);
    expect(response.headers.get("allow")).toBe("POST");
  });

  it("400 without credits", async () => {
    const poor = await createTenant(world, { credits: "0" });
    const trigger = await createTrigger(world, poor);
    const answer = await hook({ path: `/webhooks/${trigger.token}`, body: "{}" });
    expectError(answer, 400, "insufficient_credits");
    // Senders do not learn the balance.
    expect(answer.body.issues).toEqual([
      { path: "", message: expect.stringMatching(/^The start needs a hold of 0\.\d{4} credits$/) },
    ]);
  });

  it("400 when the target is gone or inactive, and when the organization is suspended; API access is not needed", async () => {
    const gone = await createTenant(world, { agent: { status: "inactive" }, plan: { apiAccess: false } });
    const agentTrigger = await createTrigger(world, gone);
    expectError(
      await hook({ path: `/webhooks/${agentTrigger.token}`, body: "{}" }),
      400,
      "trigger_misconfigured",
    );
    const toolTrigger = await createTrigger(world, gone, { target: "tool" });
    const body = '{"a":1,"b":2}';
    expect((await hook({ path: `/webhooks/${toolTrigger.token}`, body })).status).toBe(200);
    await world.db.tool.update({ where: { id: gone.toolId }, data: { deletedAt: world.clock.now() } });
    expectError(await hook({ path: `/webhooks/${toolTrigger.token}`, body }), 400, "trigger_misconfigured");
    await world.db.organization.update({
      where: { id: gone.orgId },
      data: { suspendedAt: world.clock.now() },
    });
    expectError(await hook({ path: `/webhooks/${toolTrigger.token}`, body }), 400, "organization_suspended");
  });

  it("accepts 30 calls in 60 s per trigger, never a 31st; wrongly signed ones do not count", async () => {
    const trigger = await createTrigger(world, tenant, { secrets: ["s3cret"] });
    const path = `/webhooks/${trigger.token}`;
    const { createHmac } = await import("node:crypto");
    const body = '{"n":1}';
    const signature = createHmac("sha256", "s3cret").update(body).digest("hex");
    for (let forged = 0; forged < 40; forged += 1) {
      expectError(
        await hook({ path, body, headers: { "X-Signature": "0".repeat(64) } }),
        401,
        "invalid_signature",
      );
    }
    const signed = { "X-Signature": `sha256=${signature.toUpperCase()}` };
    const answers = await Promise.all(
      Array.from({ length: 35 }, () => hook({ path, body, headers: signed })),
    );
    expect(answers.filter((answer) => answer.status === 200)).toHaveLength(30);
    const rejected = answers.filter((answer) => answer.status === 429);
    expect(rejected).toHaveLength(5);
    expect(rejected[0]?.headers.get("retry-after")).toBe("60");
  });

  it("answers a repeated id with the first run, even beyond the limit", async () => {
    const trigger = await createTrigger(world, tenant, { rateLimit: { requests: 1, seconds: 60 } });
    const path = `/webhooks/${trigger.token}`;
    const headers = { "webhook-id": "msg_1" };
    const first = await hook({ path, body: '{"n":1}', headers });
    const again = await hook({ path, body: "other, and not even JSON", headers });
    expect(again.status).toBe(200);
    expect(again.body).toEqual(first.body);
    expect(again.headers.get("idempotent-replayed")).toBe("true");
    expectError(await hook({ path, body: '{"n":1}' }), 429, "rate_limited");
    const outcomes = await world.db.delivery.findMany({
      where: { triggerId: trigger.id },
      orderBy: { id: "asc" },
    });
    expect(outcomes.map(({ outcome }) => outcome)).toEqual(["accepted", "repeated", "rejected"]);
  });

  it("stores headers without secrets", async () => {
    const trigger = await createTrigger(world, tenant, { secrets: ["s3cret"] });
    const headers = { Authorization: "Bearer abc", "X-Signature": "0".repeat(64), "X-Event": "order" };
    await hook({ path: `/webhooks/${trigger.token}`, body: "{}", headers });
    const delivery = await world.db.delivery.findFirstOrThrow({ where: { triggerId: trigger.id } });
    const stored = JSON.parse(delivery.headers);
    expect(stored).toMatchObject({
      authorization: "[redacted]",
      "x-signature": "[redacted]",
      "x-event": "order",
    });
  });
});
