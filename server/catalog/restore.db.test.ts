import { expect, it } from "vitest";
import { createMember } from "@/testing/runs";
import { createTenant, openWorld } from "@/testing/world";
import { listArchived, removeDefinition, restoreDefinition } from "./archive";
import { readToolText, saveToolText } from "./edit-definition";
import { inspectAgent } from "./inspect-definition";
import { saveAgent } from "./save-agent";
import { listVersions, readVersionChanges, returnToVersion } from "./versions";

const world = await openWorld();
const tenant = await createTenant(world);
const member = await createMember(world, tenant, "member");

const AGENT = { name: "Writer", model: "m", systemPrompt: "Be short." };
const toolYaml = (slug: string, zone: string) => `slug: ${slug}
name: Clock
parameters: { type: object }
steps: [{ id: now, uses: current_time, with: { timezone: ${zone} } }]
`;

const actionsOf = async (id: string) =>
  (await world.db.auditEntry.findMany({ where: { subjectId: id }, orderBy: { createdAt: "asc" } })).map(
    ({ action }) => action,
  );

it("an agent returns to an earlier version as a new one, with a note and an audit entry", async () => {
  const { id } = await saveAgent(world, member, { definition: { ...AGENT, slug: "returns" } });
  const second = { ...AGENT, slug: "returns", name: "Poet", systemPrompt: "Be long.", maxSteps: 3 };
  await saveAgent(world, member, { definition: second, note: "Longer answers" });
  const of = { kind: "agent", id } as const;

  const changes = await readVersionChanges(world, member, { ...of, number: 1, from: "current" });
  expect(changes).toContainEqual({ field: "system prompt", from: "Be long.", to: "Be short." });

  const saved = await returnToVersion(world, member, { ...of, number: 1, current: 2 });
  expect(saved).toMatchObject({ id, version: 3, saved: "updated" });
  // The name belongs to no version.
  expect(await inspectAgent(world, member, { agentId: id })).toMatchObject({
    name: "Poet",
    systemPrompt: "Be short.",
    limits: expect.arrayContaining([["max steps", "8"]]),
  });
  const { items } = await listVersions(world, member, { ...of, limit: 10 });
  expect(items.map(({ number, note }) => [number, note])).toEqual([
    [3, "Return to version 1"],
    [2, "Longer answers"],
    [1, ""],
  ]);
  expect(await actionsOf(id)).toEqual(["agent.created", "agent.updated", "agent.updated"]);
  await expect(returnToVersion(world, member, { ...of, number: 2, current: 2 })).rejects.toThrow(
    "Version 3 of this agent was saved since you opened version 2",
  );
  await expect(returnToVersion(world, member, { ...of, number: 9, current: 3 })).rejects.toThrow(
    "There is no version 9",
  );
});

it("a tool returns to an earlier version", async () => {
  const { id } = await saveToolText(world, member, { yaml: toolYaml("clock", "UTC"), only: "create" });
  await saveToolText(world, member, {
    yaml: toolYaml("clock", "Europe/Oslo"),
    only: "update",
    id,
    version: 1,
  });
  await returnToVersion(world, member, { kind: "tool", id, number: 1, current: 2 });
  const { yaml, version } = await readToolText(world, member, { toolId: id });
  expect(version).toBe(3);
  expect(yaml).toContain("timezone: UTC");
});

it("an archived agent is listed, and restored with its id and versions", async () => {
  const { id } = await saveAgent(world, member, { definition: { ...AGENT, slug: "kept" } });
  await removeDefinition(world, member, { kind: "agent", id });
  await expect(inspectAgent(world, member, { agentId: id })).rejects.toMatchObject({ code: "not_found" });
  expect(await listArchived(world, member, { kind: "agent" })).toMatchObject([
    { id, slug: "kept", name: "Writer" },
  ]);
  await restoreDefinition(world, member, { kind: "agent", id });
  expect(await inspectAgent(world, member, { agentId: id })).toMatchObject({
    version: 1,
    systemPrompt: "Be short.",
  });
  expect(await listArchived(world, member, { kind: "agent" })).toEqual([]);
  expect(await actionsOf(id)).toEqual(["agent.created", "agent.removed", "agent.restored"]);
  await expect(restoreDefinition(world, member, { kind: "agent", id })).rejects.toMatchObject({
    code: "not_found",
  });
});

it("an agent is not restored before the tools it uses", async () => {
  const tool = await saveToolText(world, member, { yaml: toolYaml("used", "UTC"), only: "create" });
  const agent = await saveAgent(world, member, { definition: { ...AGENT, slug: "uses", tools: ["used"] } });
  await removeDefinition(world, member, { kind: "agent", id: agent.id });
  await removeDefinition(world, member, { kind: "tool", id: tool.id });
  await expect(restoreDefinition(world, member, { kind: "agent", id: agent.id })).rejects.toThrow(
    "uses archived tools: used",
  );
  await restoreDefinition(world, member, { kind: "tool", id: tool.id });
  await restoreDefinition(world, member, { kind: "agent", id: agent.id });
  expect(await inspectAgent(world, member, { agentId: agent.id })).toMatchObject({
    tools: [{ gone: false }],
  });
});

it("a tool is not restored before the agents and tools it calls", async () => {
  const called = await saveToolText(world, member, { yaml: toolYaml("below", "UTC"), only: "create" });
  const agent = await saveAgent(world, member, { definition: { ...AGENT, slug: "beside" } });
  const steps =
    "{ id: a, uses: run_tool, with: { tool: below } }, { id: b, uses: run_agent, with: { agent: beside, message: Hi } }, { id: c, uses: run_tool, with: { tool: above } }";
  const yaml = `slug: above\nname: Above\nparameters: { type: object }\nsteps: [${steps}]\n`;
  const tool = await saveToolText(world, member, { yaml, only: "create" });
  await removeDefinition(world, member, { kind: "tool", id: tool.id });
  await removeDefinition(world, member, { kind: "agent", id: agent.id });
  await removeDefinition(world, member, { kind: "tool", id: called.id });
  const restore = (kind: "agent" | "tool", id: string) => restoreDefinition(world, member, { kind, id });
  await expect(restore("tool", tool.id)).rejects.toThrow("Above uses archived agents: beside");
  await restore("agent", agent.id);
  await expect(restore("tool", tool.id)).rejects.toThrow("Above uses archived tools: below");
  await restore("tool", called.id);
  await restore("tool", tool.id);
});

it("an agent or tool is not archived while another tool calls it", async () => {
  await saveToolText(world, member, { yaml: toolYaml("called", "UTC"), only: "create" });
  await saveAgent(world, member, { definition: { ...AGENT, slug: "asked" } });
  const callerYaml = (steps: string) =>
    `slug: caller\nname: Caller\nparameters: { type: object }\nsteps: [${steps}]\n`;
  const calls = `{ id: sum, uses: run_tool, with: { tool: called } }, { id: ask, uses: run_agent, with: { agent: asked, message: Hi } }`;
  const caller = await saveToolText(world, member, { yaml: callerYaml(calls), only: "create" });
  const removals = [
    { kind: "tool", slug: "called" },
    { kind: "agent", slug: "asked" },
  ] as const;
  for (const removal of removals)
    await expect(removeDefinition(world, member, removal)).rejects.toThrow(
      "is used by caller. Remove it there first",
    );
  // Only the current version counts.
  const yaml = callerYaml("{ id: now, uses: current_time }");
  await saveToolText(world, member, { yaml, only: "update", id: caller.id, version: 1 });
  for (const removal of removals) await removeDefinition(world, member, removal);
});
