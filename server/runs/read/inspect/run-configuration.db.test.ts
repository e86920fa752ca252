import { expect, it } from "vitest";
import { newId } from "@/server/base/ids";
import { toolDefinition } from "@/server/catalog/definitions";
import { saveAgent } from "@/server/catalog/save-agent";
import { saveTool } from "@/server/catalog/save-tool";
import { startRun } from "@/server/runs/start";
import { executeRun } from "@/testing/execute";
import { createMember } from "@/testing/runs";
import { createTenant, openWorld, setAgent } from "@/testing/world";
import { compareConfigurations, inspectConfiguration, readStepDefinition } from "./run-configuration";

const world = await openWorld();

it("shows a run's configuration, and what a run started now would change", async () => {
  const tenant = await createTenant(world);
  const operator = { kind: "operator", orgId: tenant.orgId, name: "test" } as const;
  const viewer = await createMember(world, tenant, "viewer");
  const start = async () =>
    (await startRun(world, operator, { kind: "agent", targetId: tenant.agentId, userMessage: "Hi" })).runId;
  const first = await start();

  const then = await inspectConfiguration(world, viewer, first);
  expect(then.fields).toContainEqual({ field: "system prompt", value: "You help." });
  expect(then.fields).toContainEqual({ field: "tools", value: "adder v1" });
  expect(then.fields.map(({ field }) => field)).not.toContain("message");
  expect(then.now).toEqual({ version: 1, changes: [] });

  // The agent stays at version 1; one of its tools changes.
  const steps = [{ id: "sum", uses: "calculate", with: { expression: "1 + 1" } }];
  await saveTool(world, operator, {
    definition: { slug: "adder", name: "Adder", steps, output: "{{ steps.sum }}" },
  });
  const byTool = await inspectConfiguration(world, viewer, first);
  expect(byTool.now?.version).toBe(1);
  expect(byTool.now?.changes.map(({ field }) => field)).toEqual(["tools", "tool adder"]);
  expect(byTool.now?.changes[0]).toEqual({ field: "tools", from: "adder v1", to: "adder v2" });

  await saveAgent(world, operator, {
    definition: {
      slug: "helper",
      name: "Helper",
      model: "m",
      systemPrompt: "You hinder.",
    },
  });
  const second = await start();
  expect((await inspectConfiguration(world, viewer, first)).now?.version).toBe(2);
  const changes = await compareConfigurations(world, viewer, { a: first, b: second });
  expect(changes).toContainEqual({ field: "system prompt", from: "You help.", to: "You hinder." });
  expect(changes).toContainEqual({ field: "model", from: "gpt-5-mini", to: "m" });
  expect(await compareConfigurations(world, viewer, { a: second, b: second })).toEqual([]);
});

it("names an agent's tools by their slugs, as its editor does", async () => {
  const tenant = await createTenant(world);
  const operator = { kind: "operator", orgId: tenant.orgId, name: "test" } as const;
  const viewer = await createMember(world, tenant, "viewer");
  await world.db.tool.update({ where: { id: tenant.toolId }, data: { slug: "to-add" } });
  await setAgent(world, tenant, { tools: ["to-add"], policies: { "to-add": { maxCalls: 1 } } });
  const { runId } = await startRun(world, operator, {
    kind: "agent",
    targetId: tenant.agentId,
    userMessage: "Hi",
  });
  const { fields } = await inspectConfiguration(world, viewer, runId);
  expect(fields).toContainEqual({ field: "tools", value: "to-add v1" });
  expect(fields).toContainEqual({
    field: "policies",
    value: JSON.stringify({ "to-add": { maxCalls: 1 } }, null, 2),
  });
  expect(fields.map(({ field }) => field)).toContain("tool to-add");
});

it("shows a tool's workflow, also once the tool is deleted", async () => {
  const tenant = await createTenant(world);
  const operator = { kind: "operator", orgId: tenant.orgId, name: "test" } as const;
  const viewer = await createMember(world, tenant, "viewer");
  const { runId } = await startRun(world, operator, {
    kind: "tool",
    targetId: tenant.toolId,
    input: { a: 1, b: 2 },
  });
  await world.db.tool.update({ where: { id: tenant.toolId }, data: { deletedAt: world.clock.now() } });
  const { fields, now } = await inspectConfiguration(world, viewer, runId);
  expect(now).toBeNull();
  expect(fields.map(({ field }) => field)).toEqual(["parameters", "steps", "output", "deadline"]);
  const stranger = await createMember(world, await createTenant(world), "owner");
  await expect(inspectConfiguration(world, stranger, runId)).rejects.toMatchObject({ code: "not_found" });
});

it("executes and shows a run that an earlier release started, before agents had more settings", async () => {
  const tenant = await createTenant(world);
  const operator = { kind: "operator", orgId: tenant.orgId, name: "test" } as const;
  const viewer = await createMember(world, tenant, "viewer");
  const { runId } = await startRun(world, operator, {
    kind: "agent",
    targetId: tenant.agentId,
    userMessage: "Hi",
  });
  const document = `{"kind":"agent","name":"Helper","model":"gpt-5-mini","systemPrompt":"You helped.","maxSteps":3,
    "callables":[{"kind":"function","name":"calculate"},{"kind":"tool","name":"adder","toolId":"${tenant.toolId}","version":1,
    "title":"Adder","description":"","definition":{"steps":[{"id":"s","uses":"calculate","with":{"expression":"1"}}]},
    "deadlineSeconds":60}],"messageFromOutside":false,
    "prices":{"defaultModel":{"input":"0.1","output":"0.4"},"models":{},"action":"0.01"}}`;
  await world.db.configuration.updateMany({ where: { organizationId: tenant.orgId }, data: { document } });
  await executeRun(world, runId);
  expect(await world.db.run.findUnique({ where: { id: runId } })).toMatchObject({
    status: "Completed",
  });
  const { fields, now } = await inspectConfiguration(world, viewer, runId);
  expect(fields.slice(0, 5)).toEqual([
    { field: "model", value: "gpt-5-mini" },
    { field: "system prompt", value: "You helped." },
    { field: "max steps", value: "3" },
    { field: "functions", value: "calculate" },
    { field: "tools", value: "adder v1" },
  ]);
  expect(now?.changes).toContainEqual({ field: "system prompt", from: "You helped.", to: "You help." });
});

it("shows what a step executed, as its run's version declares it", async () => {
  const tenant = await createTenant(world);
  const operator = { kind: "operator", orgId: tenant.orgId, name: "test" } as const;
  const viewer = await createMember(world, tenant, "viewer");
  const sum = { id: "sum", uses: "calculate", with: { expression: "1 + 1" } };
  const each = {
    id: "each",
    uses: "calculate",
    forEach: "{{ [1, 2] }}",
    with: { expression: "{{ item }} + 1" },
  };
  const now = { id: "now", uses: "current_time" };
  const group = { id: "group", parallel: [sum, now] };
  const save = (steps: object[]) =>
    saveTool(world, operator, {
      definition: toolDefinition.parse({ slug: "steps", name: "Steps", steps }),
    });
  const { id } = await save([group, each]);
  const { runId } = await startRun(world, operator, { kind: "tool", targetId: id, input: {} });
  await executeRun(world, runId);
  await save([now]);
  const { steps } = await world.db.run.findUniqueOrThrow({
    where: { id: runId },
    include: { steps: { orderBy: { key: "asc" } } },
  });
  const shown = await Promise.all(
    steps.map(({ id: stepId }) => readStepDefinition(world, viewer, { runId, stepId })),
  );
  expect(steps.map(({ key }) => key)).toEqual(["each[0]", "each[1]", "now", "sum"]);
  expect(shown).toMatchObject([each, each, { ...group, parallel: [now] }, { ...group, parallel: [sum] }]);
});

it("shows what an agent's call may do", async () => {
  const tenant = await createTenant(world);
  const operator = { kind: "operator", orgId: tenant.orgId, name: "test" } as const;
  const viewer = await createMember(world, tenant, "viewer");
  await setAgent(world, tenant, { functions: ["calculate"], policies: { calculate: { maxCalls: 3 } } });
  const { runId } = await startRun(world, operator, {
    kind: "agent",
    targetId: tenant.agentId,
    userMessage: "Hi",
  });
  const insertStep = (toolName: string, stepNumber: number) =>
    world.db.step.create({
      data: {
        id: newId(),
        organizationId: tenant.orgId,
        runId,
        key: `call-1-${stepNumber}`,
        stepNumber,
        iterationNumber: 1,
        toolName,
        status: "Completed",
        input: "{}",
        output: "{}",
        startedAt: world.clock.now(),
        finishedAt: world.clock.now(),
        durationMs: 0,
      },
    });
  const show = async (toolName: string, stepNumber: number) => {
    const { id: stepId } = await insertStep(toolName, stepNumber);
    return readStepDefinition(world, viewer, { runId, stepId });
  };
  expect(await show("calculate", 1)).toEqual({ function: "calculate", policy: { maxCalls: 3 } });
  expect(await show("adder", 2)).toEqual({ tool: "adder", version: 1, policy: undefined });
  expect(await show("unknown", 3)).toBeNull();
});
