import { expect, it } from "vitest";
import { startRun } from "@/server/runs/start";
import { executeRun } from "@/testing/execute";
import { createTenant, openWorld, scriptedModels, setAgent } from "@/testing/world";

let attempts = 0;
let failures = 0;
const world = await openWorld({
  fetch: async () => {
    attempts += 1;
    if (attempts <= failures) throw new Error("connection reset");
    return new Response("{}");
  },
  models: scriptedModels(({ messages }) => {
    if (messages.some(({ role }) => role === "tool")) return {};
    const call = { id: "1", name: "http_request", arguments: '{"url":"https://out.test/"}' };
    return { content: "", toolCalls: [call] };
  }),
});

it.each([
  ["as often as its policy allows, as one action", { http_request: { retries: 2 } }, 3],
  ["not at all without a policy", {}, 1],
])("an agent repeats a function that fails twice %s", async (_, policies, tried) => {
  attempts = 0;
  failures = 2;
  const tenant = await createTenant(world);
  await setAgent(world, tenant, { functions: ["http_request"], policies });
  const actor = { kind: "operator", orgId: tenant.orgId, name: "test" } as const;
  const { runId } = await startRun(world, actor, {
    kind: "agent",
    targetId: tenant.agentId,
    userMessage: "Go",
  });
  await executeRun(world, runId);
  expect(attempts).toBe(tried);
  const { steps, ...run } = await world.db.run.findUniqueOrThrow({
    where: { id: runId },
    include: { steps: true },
  });
  expect(run).toMatchObject({ status: "Completed", stepsExecuted: 1, actionsUsed: 1 });
  expect(JSON.parse(steps[0]?.output ?? "")).toMatchObject(
    tried === 3 ? { status: 200 } : { error: expect.stringContaining("connection reset") },
  );
});
