import { expect, it } from "vitest";
import { exportOrganization } from "@/server/catalog/definition-file/export";
import { inspectAgent } from "@/server/catalog/inspect-definition";
import { saveAgent } from "@/server/catalog/save-agent";
import { readVersionChanges } from "@/server/catalog/versions";
import { startRun } from "@/server/runs/start";
import type { ModelSettings } from "@/server/work/models/settings";
import { executeRun } from "@/testing/execute";
import { createMember } from "@/testing/runs";
import { createTenant, openWorld, quietModels } from "@/testing/world";

const sent: (ModelSettings | undefined)[] = [];
const world = await openWorld({
  models: {
    ...quietModels,
    call: async (request) => {
      sent.push(request.settings);
      return quietModels.call(request);
    },
  },
});

it("an agent's model settings reach the model, its versions, its page and exports", async () => {
  const tenant = await createTenant(world);
  const operator = { kind: "operator", orgId: tenant.orgId, name: "test" } as const;
  const definition = { slug: "helper", name: "Helper", model: "gpt-5-mini", temperature: 0.3 };
  await saveAgent(world, operator, { definition });
  const { runId } = await startRun(world, operator, {
    kind: "agent",
    targetId: tenant.agentId,
    userMessage: "Hi",
  });
  await executeRun(world, runId);
  expect(sent).toEqual([{ temperature: 0.3 }]);
  const viewer = await createMember(world, tenant, "viewer");
  const version = { kind: "agent", id: tenant.agentId, number: 2, from: "previous" } as const;
  const changes = await readVersionChanges(world, viewer, version);
  expect(changes).toContainEqual({ field: "temperature", from: null, to: "0.3" });
  const { settings } = await inspectAgent(world, viewer, { agentId: tenant.agentId });
  expect(settings).toContainEqual(["temperature", "0.3"]);
  expect(await exportOrganization(world, operator)).toContain("temperature: 0.3");
});
