import { createHmac } from "node:crypto";
import { expect, it } from "vitest";
import { startFromDashboard } from "@/server/runs/rerun";
import { executeRun } from "@/testing/execute";
import { createMember } from "@/testing/runs";
import { createTenant, createTrigger, openWorld, scriptedModels } from "@/testing/world";
import { handleRest } from "./rest";
import { handleWebhook } from "./webhook";

// Of two members with one key, the first would be lost without a word.
const BODY = '{"userMessage":"hi","user":{"a":1,"b":2,"a":3}}';
const REJECTED = {
  code: "invalid_request",
  message: 'The key "a" appears twice in user.',
  issues: [{ path: "/user/a", message: "appears twice" }],
};

const world = await openWorld({
  models: scriptedModels(({ messages }) => {
    if (messages.some(({ role }) => role === "tool")) return { content: "done" };
    const call = { id: "c", name: "set_value", arguments: '{"key":"k","value":1,"value":2}' };
    return { content: "", toolCalls: [call] };
  }),
});
const tenant = await createTenant(world, { agent: { functions: ["set_value"] } });
const member = await createMember(world, tenant, "member");

async function post(path: string, body: string, headers: Record<string, string> = {}) {
  const handler = path.startsWith("/v1") ? handleRest : handleWebhook;
  const request = new Request(`http://stepwell.test${path}`, {
    method: "POST",
    headers: { "Content-Type": "application/json", "X-API-Key": tenant.key, ...headers },
    body,
  });
  const response = await handler(world, request);
  return { status: response.status, body: await response.json() };
}

const sign = (secret: string, body: string) => createHmac("sha256", secret).update(body).digest("hex");
const FORM = `payload=${encodeURIComponent(BODY)}`;

it.each<[string, () => ReturnType<typeof post>]>([
  ["a start of a tool", () => post(`/v1/tools/run/${tenant.toolId}`, BODY)],
  ["a start of an agent", () => post(`/v1/agents/run/${tenant.agentId}`, BODY)],
  [
    "a webhook",
    async () => post(`/webhooks/${(await createTrigger(world, tenant, { target: "tool" })).token}`, BODY),
  ],
  [
    "a webhook to an agent, signed by GitHub",
    async () => {
      const { token } = await createTrigger(world, tenant, { signature: "github", secrets: ["s"] });
      return post(`/webhooks/${token}`, BODY, { "X-Hub-Signature-256": `sha256=${sign("s", BODY)}` });
    },
  ],
  [
    "the document in a signed form",
    async () => {
      const { token } = await createTrigger(world, tenant, { signature: "github", secrets: ["s"] });
      return post(`/webhooks/${token}`, FORM, {
        "Content-Type": "application/x-www-form-urlencoded",
        "X-Hub-Signature-256": `sha256=${sign("s", FORM)}`,
      });
    },
  ],
])("%s that has a key twice is rejected with its path", async (_name, call) => {
  const before = await world.db.run.count();
  expect(await call()).toMatchObject({ status: 400, body: { success: false, ...REJECTED } });
  expect(await world.db.run.count()).toBe(before);
});

it("so is one from the dashboard", async () => {
  const start = startFromDashboard(world, member, { kind: "tool", id: tenant.toolId, input: BODY });
  await expect(start).rejects.toMatchObject(REJECTED);
});

it("of a model's call, the last value counts, and the step says so", async () => {
  const { body } = await post(`/v1/agents/run/${tenant.agentId}`, '{"userMessage":"hi"}');
  await executeRun(world, body.id);
  const run = await world.db.run.findUniqueOrThrow({ where: { id: body.id }, include: { steps: true } });
  expect(run).toMatchObject({
    status: "Completed",
    steps: [{ input: '{"key":"k","value":2}', errorMessage: null }],
  });
  expect(JSON.parse(run.steps[0]?.attempts ?? "")[0].notes).toEqual([
    'The key "value" appears twice. The last value was used.',
  ]);
});
