import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "vitest";
import { z } from "zod";
import { applyDefinitionFile } from "@/server/catalog/definition-file/apply";
import { startTestService } from "./services/service";

/** A service for the clients of `client/` and `client-python/`, with the environment of their samples. */

const DEFINITIONS = `organizations:
  - slug: clients
    credits: 100
    apiKeys: [{ name: ci, scopes: ["runs:start", "runs:read", "runs:list", "definitions:read", "definitions:write"] }]
    tools:
      - slug: stock
        name: Stock
        parameters: { type: object, properties: { sku: { type: string } }, required: [sku] }
        steps: [{ id: level, uses: calculate, with: { expression: 6 - 2 } }]
        output: { sku: "{{ input.sku }}", inStock: "{{ steps.level }}" }
      - slug: many
        name: Many
        steps: [{ id: each, uses: calculate, with: { expression: 1 + 1 }, forEach: "[1..120]" }]
        output: done
      - slug: nested
        name: Nested
        steps: [{ id: each, uses: run_tool, with: { tool: stock, input: { sku: A-1 } }, forEach: "[1..30]", concurrency: 3 }]
        output: done
    agents:
      - { slug: helper, name: Helper, model: gpt-5-mini, systemPrompt: You help., functions: [calculate] }
    triggers:
      - { slug: inbound, name: Inbound, tool: stock, secret: webhook-secret }
`;

const withId = z.object({ id: z.string() });
const applied = z.object({
  agents: z.tuple([withId]),
  tools: z.tuple([withId, withId, withId]),
  triggers: z.tuple([z.object({ token: z.string() })]),
  apiKeys: z.tuple([z.object({ key: z.string() })]),
});

export async function startClientService() {
  const service = await startTestService();
  const [organization] = await applyDefinitionFile(service.services, DEFINITIONS);
  const found = applied.parse(organization);
  return {
    origin: service.origin,
    manyId: found.tools[1].id,
    nestedId: found.tools[2].id,
    env: {
      STEPWELL_URL: service.origin,
      STEPWELL_KEY: found.apiKeys[0].key,
      AGENT_ID: found.agents[0].id,
      TOOL_ID: found.tools[0].id,
      WEBHOOK_URL: `${service.origin}/webhooks/${found.triggers[0].token}`,
      WEBHOOK_SECRET: "webhook-secret",
    },
    stop: service.stop,
  };
}

const treeEvents = z.array(z.object({ id: z.string(), type: z.string(), runs: z.array(z.string()) }));

/** Checks what a client read of a run of `nested`, from its first event. */
export function expectWholeTree(read: unknown): void {
  const events = treeEvents.parse(read);
  expect(new Set(events.map(({ id }) => id)).size).toBe(events.length);
  const own = events.filter(({ runs }) => runs.length === 0).map(({ id }) => Number.parseInt(id, 10));
  expect(own).toEqual(own.map((_, n) => n + 1));
  const called = new Map<string, string[]>();
  for (const { type, runs } of events)
    for (const run of runs) called.set(run, [...(called.get(run) ?? []), type]);
  expect([...called.values()]).toEqual(
    Array.from({ length: 30 }, () => ["run.running", "step.started", "step.completed", "run.completed"]),
  );
  expect(events.at(-1)).toMatchObject({ type: "run.completed", runs: [] });
}

/** The samples of docs/clients.md by their names. Those that need it begin with the sample `connect`. */
export function readClientSamples(language: "ts" | "python"): Map<string, string> {
  const page = readFileSync(join(import.meta.dirname, "../docs/clients.md"), "utf8");
  const blocks = [...page.matchAll(/^```(ts|python) (\w+)\n([\s\S]*?)^```$/gm)]
    .filter(([, each]) => each === language)
    .map(([, , name = "", code = ""]) => [name, code] as const);
  const connect = blocks.find(([name]) => name === "connect")?.[1] ?? "";
  const whole = blocks.map(
    ([name, code]) => [name, /\bclient\./.test(code) ? `${connect}\n${code}` : code] as const,
  );
  return new Map(whole.filter(([name]) => name !== "connect"));
}

/** The outputs of the samples that call the service. */
export const SAMPLE_OUTPUTS: Record<string, RegExp> = {
  start: /391[\s\S]*\nCompleted (true|True) \{"sku":"A-1","inStock":4\}\n$/,
  events: /^calculate 391\n[\s\S]*391\n$/,
  children: /^([a-z.]+ \[\s*\]\n)*run\.completed \[\s*\]\n$/,
  operations: /^((agent|tool) Completed\n)+\d+\.\d{4}\n$/,
  errors: /^400 invalid_request \/sku\n$/,
  webhook: /^200 \{"success":true,"runId":"[\w-]+","type":"tool"\}\n$/,
};
