import { expect, it } from "vitest";
import { createMember } from "@/testing/runs";
import { createTenant, openWorld } from "@/testing/world";
import { inspectAgent, inspectTool } from "./inspect-definition";
import { saveAgent } from "./save-agent";
import { saveTool } from "./save-tool";
import { listVersions, readVersionChanges } from "./versions";

const world = await openWorld();
const tenant = await createTenant(world);

it("lists who changed what of an agent, version by version", async () => {
  const member = await createMember(world, tenant, "member");
  const agent = { slug: "writer", name: "Writer", model: "m", systemPrompt: "Be short.\nBe kind." };
  const { id } = await saveAgent(world, member, agent);
  await saveAgent(world, member, { ...agent, systemPrompt: "Be short.\nBe exact.", tools: ["adder"] });
  await saveAgent(world, member, { ...agent, systemPrompt: "Be short.\nBe exact.", maxCredits: 2 });
  const of = { kind: "agent", id } as const;

  const first = await listVersions(world, member, { ...of, limit: 2 });
  expect(first.items).toMatchObject([
    { number: 3, current: true, changed: ["tools", "max credits"], by: member.name },
    { number: 2, current: false, changed: ["system prompt", "tools"] },
  ]);
  const rest = await listVersions(world, member, { ...of, limit: 2, before: first.nextCursor ?? undefined });
  expect(rest).toMatchObject({ items: [{ number: 1, changed: null }], nextCursor: null });
  const previous = { ...of, from: "previous" } as const;
  expect(await readVersionChanges(world, member, { ...previous, number: 3 })).toEqual([
    { field: "tools", from: "adder", to: "" },
    { field: "max credits", from: null, to: "2.0000" },
  ]);
  expect(await readVersionChanges(world, member, { ...previous, number: 1 })).toContainEqual({
    field: "model",
    from: null,
    to: "m",
  });
  await expect(readVersionChanges(world, member, { ...previous, number: 9 })).rejects.toThrow("no version 9");
  expect(await inspectAgent(world, member, id)).toMatchObject({
    version: 3,
    systemPrompt: "Be short.\nBe exact.",
    tools: [],
    maxCredits: "2.0000",
  });
});

it("shows a tool with its steps and the agents that use it", async () => {
  const member = await createMember(world, tenant, "member");
  const tool = {
    slug: "double",
    name: "Double",
    steps: [{ id: "sum", uses: "calculate", with: { expression: "2 * {{ input.n }}" } }],
  };
  const { id } = await saveTool(world, member, tool);
  await saveTool(world, member, { ...tool, output: { doubled: "{{ steps.sum }}" } });
  await saveAgent(world, member, { slug: "doubler", name: "Doubler", model: "m", tools: ["double"] });
  expect(await inspectTool(world, member, id)).toMatchObject({
    version: 2,
    steps: [{ id: "sum", uses: "calculate" }],
    output: '{"doubled":"{{ steps.sum }}"}',
    outputSchema: null,
    agents: [{ name: "Doubler" }],
  });
  const changes = await readVersionChanges(world, member, {
    kind: "tool",
    id,
    number: 2,
    from: "previous",
  });
  expect(changes.map(({ field, from }) => [field, from])).toEqual([["output", null]]);
});
