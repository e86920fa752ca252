import { createServer, request as nodeRequest } from "node:http";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { KeyScope } from "@/server/base/actor";
import { createApiKey } from "@/server/catalog/organization/api-keys";
import { inspectRun } from "@/server/runs/read/inspect/inspect";
import { rerun } from "@/server/runs/rerun";
import { executeRun, startEngine } from "@/testing/execute";
import { createMember } from "@/testing/runs";
import { closeServer, listen } from "@/testing/servers/listen";
import { insertTool } from "@/testing/tools";
import { createTenant, createTrigger, openWorld, scriptedModels, type Tenant } from "@/testing/world";
import { fromNode, sendToNode } from "../http/api-request";
import { targetOf } from "../http/node-http";
import { respondToRest } from "../rest";
import { respondToWebhook } from "../webhook";

const world = await openWorld({
  models: scriptedModels(({ signal }) => {
    return new Promise((_resolve, reject) => {
      signal.addEventListener("abort", () => reject(signal.reason));
    });
  }),
  env: { EGRESS_ALLOW: "hooks.internal:8080" },
});
const live = await openWorld();
startEngine(live);
const tenant = await createTenant(world, { plan: { startsPerMinute: null, concurrency: 1_000 } });

let origin = "";
const server = createServer((incoming, outgoing) => {
  const { pathname } = targetOf(incoming, origin);
  const process = incoming.headers["x-process"] === "live" ? live : world;
  const answer = pathname.startsWith("/webhooks/") ? respondToWebhook : respondToRest;
  void answer(process, fromNode(incoming, pathname)).then((response) => sendToNode(outgoing, response, []));
});
beforeAll(async () => {
  origin = `http://127.0.0.1:${await listen(server)}`;
});
afterAll(() => closeServer(server));

type Headers = Record<string, string | string[]>;
type Call = { path: string; headers?: Headers; body?: object; key?: string; method?: string };

function call({ path, headers = {}, body, key = tenant.key, method = "POST" }: Call) {
  return new Promise<{ status: number; headers: Headers; body: Record<string, unknown> }>(
    (resolve, reject) => {
      const outgoing = nodeRequest(`${origin}${path}`, {
        method,
        headers: { "X-API-Key": key, "Content-Type": "application/json", ...headers },
      });
      outgoing.on("error", reject).on("response", (incoming) => {
        let text = "";
        incoming.on("data", (chunk) => (text += String(chunk)));
        incoming.on("end", () => {
          const { statusCode = 0, headers: got } = incoming;
          const answered = Object.entries(got).map(([name, value]) => [name, value ?? ""]);
          resolve({ status: statusCode, headers: Object.fromEntries(answered), body: JSON.parse(text) });
        });
      });
      outgoing.end(body === undefined ? undefined : JSON.stringify(body));
    },
  );
}

const TARGETS = {
  agent: { path: `/v1/agents/run/${tenant.agentId}`, body: { userMessage: "Hello" } },
  tool: { path: `/v1/tools/run/${tenant.toolId}`, body: { a: 1, b: 2 } },
};
const runOf = (id: unknown) => world.db.run.findUniqueOrThrow({ where: { id: String(id) } });
const countRuns = () => world.db.run.count();

const ALL = {
  "X-Metadata": '{ "customer": "acme", "order": 8202522731445525542, "paid": true }',
  "X-Max-Credits": "0.5",
  "X-Deadline-Seconds": "60",
  "X-Callback-Url": "https://example.com/runs?of=acme",
};

describe.each(["agent", "tool"] as const)("a start of an %s", (kind) => {
  it("takes all options, and shows none of them", async () => {
    const { status, body } = await call({ ...TARGETS[kind], headers: ALL });
    expect([status, Object.keys(body)]).toEqual([200, ["success", "id", "status", "message"]]);
    const run = await runOf(body.id);
    expect(run).toMatchObject({
      metadata: '{"customer":"acme","order":8202522731445525542,"paid":true}',
      maxCreditsOf: "the start",
      deadlineSeconds: 60,
      callbackUrl: "https://example.com/runs?of=acme",
    });
    expect(run.maxCredits?.toString()).toBe("0.5");
    for (const view of kind === "agent" ? ["status", "details"] : ["status", "result"]) {
      const answer = await call({ path: `/v1/${kind}s/run/${run.id}/${view}`, method: "GET" });
      expect(answer.status).toBe(200);
      expect(JSON.stringify(answer.body)).not.toMatch(/acme|metadata|callback/i);
    }
  });

  it("without options stores none", async () => {
    const { body } = await call(TARGETS[kind]);
    expect(await runOf(body.id)).toMatchObject({
      metadata: null,
      callbackUrl: null,
      maxCredits: null,
      maxCreditsOf: null,
      deadlineSeconds: 900,
    });
  });
});

describe("an option", () => {
  const start = (headers: Headers, key = tenant.key) => call({ ...TARGETS.tool, headers, key });

  it.each([
    ["X-Metadata", "{}", { metadata: null }],
    ["X-Metadata", '{"name":"caf\\u00e9"}', { metadata: '{"name":"café"}' }],
    ["X-Metadata", `{"k":"${"x".repeat(2_040)}"}`, { metadata: expect.any(String) }],
    ["X-Callback-Url", "http://hooks.internal:8080/a", { callbackUrl: "http://hooks.internal:8080/a" }],
    ["X-Deadline-Seconds", "1000", { deadlineSeconds: 900 }],
  ])("%s may be %.40s", async (name, value, row) => {
    const { status, body } = await start({ [name]: value });
    expect(status).toBe(200);
    expect(await runOf(body.id)).toMatchObject(row);
  });

  it.each<[string, string | string[], RegExp]>([
    ["X-Metadata", "", /must be one JSON object/],
    ["X-Metadata", "customer=acme", /must be one JSON object/],
    ["X-Metadata", '{"a":1,"a":2}', /must not have a key twice/],
    ["X-Metadata", '{"__proto__":"a"}', /must not have the key __proto__/],
    ["X-Metadata", "[1]", /must be one JSON object/],
    ["X-Metadata", "null", /must be one JSON object/],
    ["X-Metadata", '{"a":1e999}', /must be one JSON object/],
    ["X-Metadata", '{"order":{"id":1}}', /must be flat: "order" is not a text, number or boolean/],
    ["X-Metadata", '{"tags":["a"]}', /must be flat: "tags"/],
    ["X-Metadata", '{"left":null}', /must be flat: "left"/],
    ["X-Metadata", '{"a":"\\u0000"}', /must not contain U\+0000/],
    ["X-Metadata", '{"\\ud83d":1}', /must not contain an unpaired surrogate/],
    ["X-Metadata", '{"name":"caf\u00e9"}', /must be ASCII/],
    ["X-Metadata", `{"k":"${"x".repeat(2_041)}"}`, /at most 2 KiB/],
    ["X-Metadata", ['{"a":1}', '{"a":1}'], /must be one JSON object/],
    ["X-Max-Credits", "0", /one decimal above 0/],
    ["X-Max-Credits", "-1", /one decimal above 0/],
    ["X-Max-Credits", "0.00001", /one decimal above 0/],
    ["X-Max-Credits", "1e3", /one decimal above 0/],
    ["X-Max-Credits", ["1", "1"], /one decimal above 0/],
    ["X-Deadline-Seconds", "0", /one whole number from 1 to 86400/],
    ["X-Deadline-Seconds", "1.5", /one whole number/],
    ["X-Deadline-Seconds", "86401", /one whole number/],
    ["X-Deadline-Seconds", ["5", "5"], /one whole number/],
    ["X-Callback-Url", "example.com", /must be one address/],
    ["X-Callback-Url", "http://example.com/runs", /must begin with https/],
    ["X-Callback-Url", "http://hooks.internal/a", /must begin with https/],
    ["X-Callback-Url", "ftp://example.com/runs", /must begin with https/],
    ["X-Callback-Url", "https://ada:pw@example.com/runs", /must not have a user name/],
    ["X-Callback-Url", `https://example.com/${"x".repeat(2_048)}`, /at most 2048 characters/],
    ["X-Callback-Url", ["https://a.example/", "https://b.example/"], /must be one address/],
  ])("%s is rejected if it is %.40s", async (name, value, message) => {
    const before = await countRuns();
    const { status, body } = await start({ [name]: value });
    expect([status, body.code]).toEqual([400, "invalid_request"]);
    expect(body.message).toMatch(message);
    expect(body.message).toContain(`The header ${name} `);
    expect(await countRuns()).toBe(before);
  });

  it("with a callback needs a key that may read runs", async () => {
    const admin = { kind: "operator", orgId: tenant.orgId, name: "test" } as const;
    const scopes: KeyScope[] = ["runs:start"];
    const { key } = await createApiKey(world, admin, { name: "starts only", scopes });
    const before = await countRuns();
    // The scope is checked before the address.
    for (const url of [ALL["X-Callback-Url"], "nowhere"]) {
      const { status, body } = await start({ "X-Callback-Url": url }, key);
      expect([status, body.code]).toEqual([403, "forbidden"]);
      expect(body.message).toContain("lacks the scope runs:read");
    }
    expect(await countRuns()).toBe(before);
    expect((await start({ "X-Metadata": ALL["X-Metadata"] }, key)).status).toBe(200);
  });

  it("is part of what a repetition must have in common", async () => {
    const repeat = (headers: Headers) => start({ "Idempotency-Key": "options-1", ...headers });
    const first = await repeat({ "X-Metadata": '{"n":1}' });
    expect(first.status).toBe(200);
    const second = await repeat({ "X-Metadata": '{"n":1}' });
    expect([second.headers["idempotent-replayed"], second.body]).toEqual(["true", first.body]);
    for (const headers of [
      { "X-Metadata": '{"n":2}' },
      { "X-Metadata": '{"n":1}', "X-Max-Credits": "1" },
      { "X-Metadata": '{"n":1}', "X-Deadline-Seconds": "9" },
      {},
    ]) {
      const { status, body } = await repeat(headers);
      expect([status, body.code]).toEqual([409, "idempotency_conflict"]);
    }
    const plain = await start({ "Idempotency-Key": "options-2" });
    expect((await start({ "Idempotency-Key": "options-2" })).body).toEqual(plain.body);
    expect((await start({ "Idempotency-Key": "options-2", ...ALL })).status).toBe(409);
  });

  it("narrows the lowest cap of tool and key, and never widens it", async () => {
    const admin = { kind: "operator", orgId: tenant.orgId, name: "test" } as const;
    const { key } = await createApiKey(world, admin, { name: "capped", maxCredits: "0.3" });
    for (const [asked, cap, of] of [
      ["0.2", "0.2", "the start"],
      ["0.3", "0.3", 'the API key "capped"'],
      ["7", "0.3", 'the API key "capped"'],
    ]) {
      const { body } = await start({ "X-Max-Credits": asked ?? "" }, key);
      const { maxCredits, maxCreditsOf } = await runOf(body.id);
      expect([maxCredits?.toString(), maxCreditsOf]).toEqual([cap, of]);
    }
  });

  it("is ignored by webhooks and other endpoints", async () => {
    const { token } = await createTrigger(world, tenant, { target: "tool" });
    const hook = await call({ path: `/webhooks/${token}`, body: { a: 1, b: 2 }, headers: ALL });
    expect(hook.status).toBe(200);
    expect(await runOf(hook.body.runId)).toMatchObject({
      metadata: null,
      callbackUrl: null,
      maxCredits: null,
      deadlineSeconds: 900,
    });
    const path = `/v1/tools/run/${String(hook.body.runId)}/cancel`;
    expect((await call({ path, headers: { "X-Metadata": "no JSON" } })).status).toBe(200);
  });
});

describe("a run", () => {
  const three = {
    steps: ["a", "b", "c"].map((id) => ({ id, uses: "calculate", with: { expression: "1" } })),
  };

  it("that reaches X-Max-Credits fails as at the cap of its tool", async () => {
    const toolId = await insertTool(world, tenant, { slug: "three", definition: three });
    const { body } = await call({
      path: `/v1/tools/run/${toolId}`,
      body: {},
      headers: { "X-Max-Credits": "0.02" },
    });
    await executeRun(world, String(body.id));
    const run = await runOf(body.id);
    expect([run.status, run.errorCode, run.creditsUsed.toString()]).toEqual([
      "Failed",
      "max_credits",
      "0.02",
    ]);
    expect(run.errorMessage).toContain("cap of 0.02 credits (maxCredits of the start)");
  });

  it("that starts at once has the same cap", async () => {
    const own = await createTenant(live);
    const toolId = await insertTool(live, own, { slug: "three", definition: three });
    const headers = { "X-Process": "live", "X-Max-Credits": "0.02", "X-Metadata": '{"n":1}' };
    const { body } = await call({ path: `/v1/tools/run/${toolId}`, body: {}, headers, key: own.key });
    const path = `/v1/tools/run/${String(body.id)}/status?wait=30`;
    const ended = await call({ path, method: "GET", headers: { "X-Process": "live" }, key: own.key });
    expect(ended.body).toMatchObject({ status: "Failed", actionsUsed: 2 });
    expect(ended.body.errorMessage).toContain("maxCredits of the start");
  });

  it("fails at X-Deadline-Seconds", async () => {
    const { body } = await call({ ...TARGETS.agent, headers: { "X-Deadline-Seconds": "1" } });
    await executeRun(world, String(body.id));
    expect(await runOf(body.id)).toMatchObject({
      status: "Failed",
      errorCode: "deadline_exceeded",
      errorMessage: "The run passed its deadline of 1 seconds.",
    });
  });

  it("shows its metadata to members, and is run again with it, but without its callback", async () => {
    const member = await createMember(world, tenant);
    const { body } = await call({ ...TARGETS.tool, headers: ALL });
    const { runId } = await rerun(world, member, { runId: String(body.id) });
    const pairs = [
      ["customer", "acme"],
      ["order", "8202522731445525542"],
      ["paid", "true"],
    ];
    for (const id of [String(body.id), runId]) {
      expect((await inspectRun(world, member, { runId: id })).run.metadata).toEqual(pairs);
    }
    const again = await runOf(runId);
    expect([again.callbackUrl, again.maxCredits, again.deadlineSeconds]).toEqual([null, null, 900]);
    const stranger: Tenant = await createTenant(world);
    const other = await createMember(world, stranger);
    await expect(inspectRun(world, other, { runId })).rejects.toThrow("There is no run");
  });
});
