import { describe, expect, it } from "vitest";
import { Decimal } from "@/server/base/amount";
import { newId } from "@/server/base/ids";
import { createApiKey } from "@/server/catalog/organization/api-keys";
import { insertTool } from "@/testing/tools";
import { createTenant, openWorld, quietModels, type Tenant } from "@/testing/world";
import { handleRest } from "../rest";

// The quick bound of a prompt's tokens is far above their number.
const world = await openWorld({ models: { ...quietModels, boundTokens: () => 50_000 } });
const tenant = await createTenant(world);
const stranger = await createTenant(world);

type Call = { path: string; body: object | string; key?: string };

async function post({ path, body, key = tenant.key }: Call) {
  const request = new Request(`http://stepwell.test${path}`, {
    method: "POST",
    headers: { "X-API-Key": key, "Content-Type": "application/json" },
    body: typeof body === "string" ? body : JSON.stringify(body),
  });
  const response = await handleRest(world, request);
  return { status: response.status, headers: response.headers, body: await response.json() };
}

const MESSAGE = { userMessage: "What is 17 * 23?" };
const agentOf = ({ agentId }: Tenant) => `/v1/agents/${agentId}/estimate`;
const toolOf = ({ toolId }: Tenant) => `/v1/tools/${toolId}/estimate`;
const operatorOf = ({ orgId }: Tenant) => ({ kind: "operator", orgId, name: "test" }) as const;

async function holdOfStart(path: string, { key, orgId, body }: Tenant & { body: object }): Promise<string> {
  const started = await post({ path, body, key });
  expect(started.status).toBe(200);
  const entry = await world.db.creditEntry.findFirstOrThrow({
    where: { organizationId: orgId, runId: started.body.id, kind: "hold" },
    orderBy: { sequence: "asc" },
  });
  return entry.amount.neg().toFixed(4);
}

describe("an estimate", () => {
  it("names the hold that the start takes, of an agent and a tool", async () => {
    const agent = await post({ path: agentOf(tenant), body: MESSAGE });
    expect([agent.status, Object.keys(agent.body)]).toEqual([200, ["hold", "mostCredits", "issues"]]);
    expect(agent.body).toMatchObject({ mostCredits: null, issues: [] });
    const agentHold = await holdOfStart(`/v1/agents/run/${tenant.agentId}`, { ...tenant, body: MESSAGE });
    expect(agent.body.hold).toBe(agentHold);
    const input = { a: 1, b: 2 };
    const tool = await post({ path: toolOf(tenant), body: input });
    expect(tool.body).toEqual({
      hold: await holdOfStart(`/v1/tools/run/${tenant.toolId}`, { ...tenant, body: input }),
      mostCredits: "0.0100",
      issues: [],
    });
  });

  it("starts and writes nothing, and counts as a read", async () => {
    const own = await createTenant(world);
    const rows = () =>
      Promise.all([
        world.db.run.count(),
        world.db.creditEntry.count(),
        world.db.configuration.count(),
        world.db.idempotencyKey.count(),
      ]);
    const before = await rows();
    const { headers } = await post({ path: agentOf(own), body: MESSAGE, key: own.key });
    expect(headers.get("ratelimit-policy")).toBe('"reads";q=600;w=60');
    await post({ path: toolOf(own), body: { a: "no" }, key: own.key });
    expect(await rows()).toEqual(before);
  });

  it("lists what would reject the start", async () => {
    const own = await createTenant(world, { credits: "0.005", agent: { status: "inactive" } });
    const agent = await post({ path: agentOf(own), body: MESSAGE, key: own.key });
    const need = `The start needs a hold of ${agent.body.hold} credits`;
    expect([agent.status, agent.body.issues]).toEqual([
      200,
      [
        { code: "agent_inactive", message: "The agent is inactive." },
        { code: "insufficient_credits", message: `${need}; the balance is 0.0050` },
      ],
    ]);
    const { key } = await createApiKey(world, operatorOf(own), { name: "starts", scopes: ["runs:start"] });
    const tool = await post({ path: toolOf(own), body: { a: 1, b: "2" }, key });
    expect(tool.body).toEqual({
      hold: "0.0100",
      mostCredits: "0.0100",
      issues: [
        { code: "invalid_request", message: expect.stringContaining("number"), path: "/b" },
        { code: "insufficient_credits", message: "The start needs a hold of 0.0100 credits" },
      ],
    });
  });

  it("counts tokens only if the quick bound does not suffice, as a start does", async () => {
    const bound = (await post({ path: agentOf(tenant), body: MESSAGE })).body.hold;
    const own = await createTenant(world, { credits: new Decimal(bound).sub("0.0001").toFixed(4) });
    const { body } = await post({ path: agentOf(own), body: MESSAGE, key: own.key });
    expect([new Decimal(body.hold).lt(bound), body.issues]).toEqual([true, []]);
    const held = await holdOfStart(`/v1/agents/run/${own.agentId}`, { ...own, body: MESSAGE });
    expect(body.hold).toBe(held);
  });

  it("names the lowest cap, or what the steps of a tool cost at most", async () => {
    const own = await createTenant(world);
    const call = { uses: "calculate", with: { expression: "1" } };
    const most = async (steps: object[], key = own.key) => {
      const definition = { steps: JSON.parse(JSON.stringify(steps)) };
      const toolId = await insertTool(world, own, { slug: `t-${newId()}`, definition });
      return (await post({ path: `/v1/tools/${toolId}/estimate`, body: {}, key })).body.mostCredits;
    };
    expect(await most([{ id: "a", ...call }])).toBe("0.0100");
    expect(
      await most([
        {
          id: "g",
          parallel: [
            { id: "a", ...call },
            { id: "b", ...call },
          ],
        },
      ]),
    ).toBe("0.0200");
    expect(await most([{ id: "a", forEach: "{{ [1] }}", ...call }])).toBe("10.0000");
    expect(await most([{ id: "a", uses: "generate_text", with: { prompt: "Hi" } }])).toBeNull();
    expect(await most([{ id: "a", uses: "run_tool", with: { tool: "adder" } }])).toBeNull();
    const capped = await createApiKey(world, operatorOf(own), { name: "capped", maxCredits: "0.3" });
    expect(await most([{ id: "a", uses: "generate_text", with: { prompt: "Hi" } }], capped.key)).toBe(
      "0.3000",
    );
    expect(await most([{ id: "a", ...call }], capped.key)).toBe("0.0100");
    expect((await post({ path: agentOf(own), body: MESSAGE, key: capped.key })).body.mostCredits).toBe(
      "0.3000",
    );
  });
});

describe("an estimate is rejected", () => {
  it.each([
    ["an empty message", "agents", '{"userMessage":""}', 400, "invalid_request"],
    ["no JSON", "tools", "{", 400, "invalid_request"],
    ["no object", "tools", "[1]", 400, "invalid_request"],
    ["U+0000", "tools", '{"a":"\\u0000"}', 400, "invalid_request"],
    [
      "a long message",
      "agents",
      JSON.stringify({ userMessage: "x".repeat(256 * 1024 + 1) }),
      413,
      "payload_too_large",
    ],
  ])("for %s", async (_, kind, body, status, code) => {
    const path = kind === "agents" ? agentOf(tenant) : toolOf(tenant);
    const answer = await post({ path, body });
    expect([answer.status, answer.body.code]).toEqual([status, code]);
  });

  it("for ids and query parameters that are unknown, malformed or another organization's", async () => {
    const { agentId, toolId } = stranger;
    for (const [path, status] of [
      [`/v1/agents/${newId()}/estimate`, 404],
      [`/v1/agents/${agentId}/estimate`, 404],
      [`/v1/agents/${tenant.toolId}/estimate`, 404],
      [`/v1/tools/${toolId}/estimate`, 404],
      ["/v1/tools/adder/estimate", 400],
      [`${agentOf(tenant)}?a=1`, 400],
    ] as const) {
      const answer = await post({ path, body: path.includes("agents") ? MESSAGE : {} });
      expect([path, answer.status]).toEqual([path, status]);
    }
  });

  it("for keys without the scope, or limited to other targets", async () => {
    const readOnly = await createApiKey(world, operatorOf(tenant), { name: "reads", scopes: ["runs:read"] });
    const limited = await createApiKey(world, operatorOf(tenant), { name: "adds", tools: ["adder"] });
    const statusOf = async (call: Call) => (await post(call)).status;
    expect(await statusOf({ path: agentOf(tenant), body: MESSAGE, key: readOnly.key })).toBe(403);
    expect(await statusOf({ path: agentOf(tenant), body: MESSAGE, key: limited.key })).toBe(403);
    expect(await statusOf({ path: `/v1/tools/${newId()}/estimate`, body: {}, key: limited.key })).toBe(403);
    expect(await statusOf({ path: toolOf(tenant), body: { a: 1, b: 2 }, key: limited.key })).toBe(200);
  });
});
