import { afterAll, beforeAll, beforeEach, expect, it } from "vitest";
import { handleRest } from "@/server/api/rest";
import { executeRun } from "@/server/testing/execute";
import { createTenant, createWorld, quietModels, type Tenant, type World } from "@/server/testing/world";

/**
 * What a start and a step cost, in statements: round trips to the database are what the service's speed is made of.
 * A change of these numbers is a decision, not an accident.
 */

const statements: string[] = [];
let world: World;
let tenant: Tenant;

beforeAll(async () => {
  world = await createWorld({
    models: {
      ...quietModels,
      async call(request) {
        const reply = await quietModels.call(request);
        if (request.messages.some(({ role }) => role === "tool")) return reply;
        return { ...reply, toolCalls: [{ id: "a", name: "calculate", arguments: '{"expression":"1+1"}' }] };
      },
    },
  });
  // Notifications, heartbeats and the note of a key's last use travel beside the request.
  const aside = /pg_notify|last_used_at = |heartbeat_at = \$1 WHERE id = ANY/;
  world.pool.on("connect", (client) => {
    const query = client.query.bind(client);
    client.query = ((...parts: Parameters<typeof query>) => {
      const [first] = parts as unknown as [string | { text: string; name?: string }];
      const text = typeof first === "string" ? first : (first.name ?? first.text);
      if (!aside.test(text)) statements.push(text.trim().split("\n")[0] ?? "");
      return query(...parts);
    }) as typeof client.query;
  });
  tenant = await createTenant(world);
});
afterAll(() => world.close());
beforeEach(() => statements.splice(0));

async function start(): Promise<string> {
  const response = await handleRest(
    world,
    new Request(`http://stepwell.test/v1/agents/run/${tenant.agentId}`, {
      method: "POST",
      headers: { "X-API-Key": tenant.key, "Content-Type": "application/json" },
      body: '{"userMessage":"Hi"}',
    }),
  );
  const body = await response.json();
  expect(response.status).toBe(200);
  return body.id;
}

it("start: the key, the rate, the agent, and one statement that commits the run with its hold", async () => {
  await start();
  expect(statements).toEqual(["find-api-key", "take-rate", "find-agent", "start-run"]);
});

it("poll: the key, the rate, the run", async () => {
  const id = await start();
  statements.splice(0);
  await handleRest(
    world,
    new Request(`http://stepwell.test/v1/agents/run/${id}/status`, { headers: { "X-API-Key": tenant.key } }),
  );
  expect(statements).toHaveLength(3);
});

it("agent run: three statements a model call, two a step, one for the claim, a transaction for the end", async () => {
  const id = await start();
  statements.splice(0);
  await executeRun(world, id);
  const settling = statements.splice(statements.indexOf("BEGIN"));
  expect(statements).toEqual([
    "claim-run",
    "extend-hold", // room for a longer answer than the start's hold covers
    "begin-model-call",
    "finish-model-call",
    "begin-steps",
    "finish-step",
    "extend-hold", // each further iteration, before the model is called
    "begin-model-call",
    "finish-model-call",
  ]);
  expect(settling.length).toBeLessThanOrEqual(11);
});
