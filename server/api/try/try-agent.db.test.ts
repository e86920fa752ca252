import { expect, it } from "vitest";
import { agentDefinition } from "@/server/catalog/definitions";
import { saveAgent } from "@/server/catalog/save-agent";
import { saveTool } from "@/server/catalog/save-tool";
import { runConfiguration } from "@/server/work/agent/definition";
import { executeRun } from "@/testing/execute";
import { createMember } from "@/testing/runs";
import { createTenant, openWorld } from "@/testing/world";
import { tryAgent } from "./try-definition";

const world = await openWorld();
const tenant = await createTenant(world);
const member = await createMember(world, tenant, "member");
await saveTool(world, member, {
  definition: {
    slug: "day-of",
    name: "Day of",
    description: "Tells the day",
    parameters: { type: "object" },
    steps: [{ id: "now", uses: "current_time" }],
  },
});
const SAVED = { slug: "desk", name: "Desk", model: "saved", status: "inactive" as const };
const { id: agentId } = await saveAgent(world, member, { definition: SAVED });
const draftOf = (part: object) =>
  agentDefinition.parse({
    ...SAVED,
    model: "draft",
    maxCredits: 2,
    functions: ["calculate"],
    policies: { calculate: { maxCalls: 2 } },
    tools: ["day-of"],
    ...part,
  });

it("runs the draft with its tools, also of an inactive agent, and marks the run's name", async () => {
  const { runId } = await tryAgent(world, member, { agentId, definition: draftOf({}), message: "Hi" });
  const run = await world.db.run.findUniqueOrThrow({
    where: { id: runId },
    include: { configuration: true },
  });
  expect(run).toMatchObject({ targetName: "Desk (draft)", agentId, input: "Hi" });
  const frozen = runConfiguration.parse(JSON.parse(run.configuration.document));
  expect(frozen).toMatchObject({
    model: "draft",
    callables: [
      { kind: "function", name: "calculate", policy: { maxCalls: 2 } },
      { kind: "tool", name: "day_of", description: "Tells the day", version: 1 },
    ],
  });
  await executeRun(world, runId);
  expect(await world.db.run.findUniqueOrThrow({ where: { id: runId } })).toMatchObject({
    status: "Completed",
  });
  expect(await world.db.agent.findUniqueOrThrow({ where: { id: agentId } })).toMatchObject({ version: 1 });
});

it("rejects an invalid draft, a viewer, and another organization's agent", async () => {
  const definition = draftOf({});
  const call = { agentId, definition, message: "Hi" };
  await expect(
    tryAgent(world, member, { ...call, definition: draftOf({ tools: ["gone"] }) }),
  ).rejects.toMatchObject({
    issues: [{ path: "/tools/0", message: expect.stringContaining(". Known tools: ") }],
  });
  await expect(tryAgent(world, member, { ...call, message: "" })).rejects.toThrow("at least one character");
  await expect(tryAgent(world, member, { ...call, message: "a\ud83d" })).rejects.toMatchObject({
    issues: [{ path: "", message: "must not contain an unpaired surrogate" }],
  });
  const viewer = await createMember(world, tenant, "viewer");
  await expect(tryAgent(world, viewer, call)).rejects.toMatchObject({ code: "forbidden" });
  const stranger = await createMember(world, await createTenant(world), "member");
  const bare = { ...call, definition: draftOf({ tools: [] }) };
  await expect(tryAgent(world, stranger, bare)).rejects.toMatchObject({ code: "not_found" });
});
