import { expect, it } from "vitest";
import { exportOrganization } from "@/server/catalog/definition-file/export";
import { inspectAgent } from "@/server/catalog/inspect-definition";
import { saveAgent } from "@/server/catalog/save-agent";
import { readVersionChanges } from "@/server/catalog/versions";
import { startRun } from "@/server/runs/start";
import type { ModelRequest } from "@/server/work/models/port";
import { modelSettings } from "@/server/work/models/settings";
import { executeRun } from "@/testing/execute";
import { createMember } from "@/testing/runs";
import { createTenant, openWorld, quietModels } from "@/testing/world";

const sent: ModelRequest[] = [];
const world = await openWorld({
  models: {
    ...quietModels,
    call: async (request) => {
      sent.push(request);
      return quietModels.call(request);
    },
  },
});

it("an agent's model settings reach the model, its versions, its page and exports", async () => {
  const tenant = await createTenant(world);
  const operator = { kind: "operator", orgId: tenant.orgId, name: "test" } as const;
  const { maxOutputTokens, ...settings } = modelSettings.required().parse({
    temperature: 0.3,
    topP: 0.9,
    maxOutputTokens: 700,
    reasoningEffort: "xhigh",
    verbosity: "low",
    parallelToolCalls: false,
    modelOptions: { seed: 7 },
  });
  const definition = { slug: "helper", name: "Helper", model: "gpt-5-mini", maxOutputTokens, ...settings };
  await saveAgent(world, operator, { definition });
  const { runId } = await startRun(world, operator, {
    kind: "agent",
    targetId: tenant.agentId,
    userMessage: "Hi",
  });
  await executeRun(world, runId);
  expect(sent).toMatchObject([{ settings, maxOutputTokens: 700 }]);
  // A limit that was set is final.
  expect(sent[0]?.raiseLimit).toBeUndefined();
  const viewer = await createMember(world, tenant, "viewer");
  const version = { kind: "agent", id: tenant.agentId, number: 2, from: "previous" } as const;
  const changes = await readVersionChanges(world, viewer, version);
  expect(changes).toContainEqual({ field: "temperature", from: null, to: "0.3" });
  const page = await inspectAgent(world, viewer, { agentId: tenant.agentId });
  expect(page.modelSettings).toEqual([
    ["temperature", "0.3"],
    ["top p", "0.9"],
    ["max output tokens", "700"],
    ["reasoning effort", "xhigh"],
    ["verbosity", "low"],
    ["parallel tool calls", "false"],
    ["model options", JSON.stringify({ seed: 7 }, null, 2)],
  ]);
  expect(page.limits).toEqual([["max steps", "8"]]);
  expect(await exportOrganization(world, operator)).toContain("temperature: 0.3");
});

it.each([
  [{ service_tier: "priority" }, "service_tier"],
  [{ service_tier: "flex", seed: 7 }, null],
  [{ speed: "fast" }, "speed"],
  [{ web_search_options: {} }, "web_search_options"],
])("calls no model of the service with options that raise its price: %j", async (modelOptions, rejected) => {
  sent.length = 0;
  const tenant = await createTenant(world);
  const operator = { kind: "operator", orgId: tenant.orgId, name: "test" } as const;
  const definition = { slug: "helper", name: "Helper", model: "gpt-5-mini", modelOptions };
  await saveAgent(world, operator, { definition });
  const target = { kind: "agent", targetId: tenant.agentId, userMessage: "Hi" } as const;
  const { runId: id } = await startRun(world, operator, target);
  await executeRun(world, id);
  expect(await world.db.run.findUniqueOrThrow({ where: { id } })).toMatchObject(
    rejected === null
      ? { status: "Completed" }
      : { status: "Failed", errorMessage: expect.stringContaining(`cannot have ${rejected} at a provider`) },
  );
  expect(sent).toHaveLength(rejected === null ? 1 : 0);
});

it("rejects model options that Stepwell sends itself, refer to secrets or are too large", async () => {
  const tenant = await createTenant(world);
  const operator = { kind: "operator", orgId: tenant.orgId, name: "test" } as const;
  const save = (modelOptions: Record<string, string>) =>
    saveAgent(world, operator, { definition: { slug: "a", name: "A", model: "m", modelOptions } });
  const issue = (message: string) => ({ issues: [{ path: "/modelOptions", message }] });
  await expect(save({ model: "dear" })).rejects.toMatchObject(
    issue("cannot have model: Stepwell sends it itself"),
  );
  await expect(save({ user: "{{ secrets.KEY }}" })).rejects.toMatchObject(
    issue("cannot refer to secrets: models never see them. Use one in a step of a tool"),
  );
  await expect(save({ user: "x".repeat(20_000) })).rejects.toMatchObject(
    issue("must have at most 16 KiB as JSON"),
  );
});
