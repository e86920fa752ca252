import { expect, it } from "vitest";
import { readJson, writeJson } from "@/server/base/json/json";
import { createMember } from "@/testing/runs";
import { createTenant, openWorld } from "@/testing/world";
import { removeDefinition } from "./archive";
import { readAgentDefinition } from "./edit-definition";
import { inspectAgent, inspectTool } from "./inspect-definition";
import { saveAgent } from "./save-agent";
import { saveTool } from "./save-tool";
import { listVersions, readVersionChanges, returnToVersion } from "./versions";

const world = await openWorld();
const tenant = await createTenant(world);

it("lists who changed what of an agent, version by version", async () => {
  const member = await createMember(world, tenant, "member");
  const agent = { slug: "writer", name: "Writer", model: "m", systemPrompt: "Be short.\nBe kind." };
  const { id } = await saveAgent(world, member, { definition: agent });
  await saveAgent(world, member, {
    definition: { ...agent, systemPrompt: "Be short.\nBe exact.", tools: ["adder"] },
  });
  await saveAgent(world, member, {
    definition: { ...agent, systemPrompt: "Be short.\nBe exact.", maxCredits: 2 },
  });
  const of = { kind: "agent", id } as const;

  const first = await listVersions(world, member, { ...of, limit: 2 });
  expect(first.items).toMatchObject([
    { number: 3, current: true, changed: ["tools", "max credits"], by: member.name },
    { number: 2, current: false, changed: ["system prompt", "tools"] },
  ]);
  const rest = await listVersions(world, member, { ...of, limit: 2, cursor: first.nextCursor });
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
  expect(await inspectAgent(world, member, { agentId: id })).toMatchObject({
    version: 3,
    systemPrompt: "Be short.\nBe exact.",
    tools: [],
    maxCredits: "2.0000",
  });
});

it("compares, shows and returns an agent's output schema and policies", async () => {
  const member = await createMember(world, tenant, "member");
  const agent = { slug: "strict", name: "Strict", model: "m", functions: ["calculate"], tools: ["adder"] };
  const { id } = await saveAgent(world, member, { definition: agent });
  const outputSchema = { type: "object", required: ["sum"] };
  const policies = { adder: { maxCalls: 2 }, calculate: { onError: "fail" as const, retries: 1 } };
  const changed = { ...agent, outputSchema, policies };
  expect(await saveAgent(world, member, { definition: changed })).toMatchObject({ version: 2 });
  expect(await saveAgent(world, member, { definition: changed })).toMatchObject({
    version: 2,
    saved: "unchanged",
  });
  const of = { kind: "agent", id } as const;
  const changes = await readVersionChanges(world, member, { ...of, number: 2, from: "previous" });
  // As YAML, in which one edits them.
  expect(changes).toEqual([
    { field: "output schema", from: null, to: "type: object\nrequired:\n  - sum" },
    {
      field: "policies",
      from: null,
      to: "adder:\n  maxCalls: 2\ncalculate:\n  retries: 1\n  onError: fail",
    },
  ]);
  expect(await inspectAgent(world, member, { agentId: id })).toMatchObject({
    outputSchema: JSON.stringify(outputSchema),
    tools: [{ name: "Adder", policy: policies.adder }],
    functions: [{ name: "calculate", policy: policies.calculate }],
  });
  await returnToVersion(world, member, { ...of, number: 1, current: 2 });
  expect(await inspectAgent(world, member, { agentId: id })).toMatchObject({
    outputSchema: null,
    tools: [{ policy: null }],
  });
  await returnToVersion(world, member, { ...of, number: 2, current: 3 });
  expect((await readAgentDefinition(world, member, { agentId: id })).definition).toMatchObject(changed);
});

it.each([
  [{ outputSchema: { type: "objekt" } }, "/outputSchema/type"],
  [{ outputSchema: { description: "x".repeat(64 * 1024) } }, "/outputSchema"],
  [{ policies: { nobody: { maxCalls: 1 } } }, "/policies/nobody"],
  [{ functions: ["calculate"], policies: { calculate: { maxCalls: 0 } } }, "/policies/calculate/maxCalls"],
])("rejects wrong settings of an agent at their place: %#", async (settings, path) => {
  const member = await createMember(world, tenant, "member");
  const rejected = saveAgent(world, member, {
    definition: { slug: "wrong", name: "Wrong", model: "m", ...settings },
  });
  await expect(rejected).rejects.toMatchObject({
    code: "invalid_request",
    issues: expect.arrayContaining([expect.objectContaining({ path })]),
  });
});

it("shows a tool with its steps, and the agents and tools that use it", async () => {
  const member = await createMember(world, tenant, "member");
  const tool = {
    slug: "double",
    name: "Double",
    steps: [{ id: "sum", uses: "calculate", with: { expression: "2 * {{ input.n }}" } }],
  };
  const { id } = await saveTool(world, member, { definition: tool });
  await saveTool(world, member, { definition: { ...tool, output: { doubled: "{{ steps.sum }}" } } });
  const agent = await saveAgent(world, member, {
    definition: {
      slug: "doubler",
      name: "Doubler",
      model: "m",
      tools: ["double"],
    },
  });
  const calls = [
    { id: "once", uses: "run_tool", with: { tool: "double", input: { n: 1 } } },
    { id: "ask", uses: "run_agent", with: { agent: "doubler", message: "2" } },
  ];
  await saveTool(world, member, {
    definition: { slug: "both", name: "Both", steps: [{ id: "group", parallel: calls }] },
  });
  const itself = [{ id: "again", uses: "run_tool", with: { tool: "alone" } }];
  const alone = await saveTool(world, member, {
    definition: { slug: "alone", name: "double", steps: itself },
  });
  expect(await inspectTool(world, member, { toolId: id })).toMatchObject({
    version: 2,
    steps: [{ id: "sum", uses: "calculate" }],
    output: '{"doubled":"{{ steps.sum }}"}',
    outputSchema: null,
    callers: [
      { kind: "agent", name: "Doubler" },
      { kind: "tool", name: "Both" },
    ],
  });
  expect(await inspectAgent(world, member, { agentId: agent.id })).toMatchObject({
    callers: [{ kind: "tool", name: "Both" }],
  });
  expect(await inspectTool(world, member, { toolId: alone.id })).toMatchObject({ callers: [] });
  const changes = await readVersionChanges(world, member, {
    kind: "tool",
    id,
    number: 2,
    from: "previous",
  });
  expect(changes.map(({ field, from }) => [field, from])).toEqual([["output", null]]);
});

it("shows a tool whose steps have numbers that a double cannot hold", async () => {
  const member = await createMember(world, tenant, "member");
  const input = { value: readJson('[{"id":8202522731445525542}]'), expression: "$" };
  const call = (id: string) => ({ id, uses: "transform_json", with: input });
  const steps = [call("one"), { id: "both", parallel: [call("two")] }];
  const { id } = await saveTool(world, member, { definition: { slug: "exact", name: "Exact", steps } });
  const tool = await inspectTool(world, member, { toolId: id });
  // Pages get plain JSON.
  expect(JSON.parse(JSON.stringify(tool))).toMatchObject({
    steps: [{ with: writeJson(input) }, { parallel: [{ with: writeJson(input) }] }],
  });
});

it("a form that is older than the agent keeps its status and overwrites nothing", async () => {
  const member = await createMember(world, tenant, "member");
  const agent = { slug: "paused", name: "Paused", model: "m", systemPrompt: "Be short." };
  const { id } = await saveAgent(world, member, { definition: agent });
  await saveAgent(world, member, { definition: { ...agent, status: "inactive" } });
  const definition = { ...agent, status: "active" as const, systemPrompt: "Be kind." };
  const options = { only: "update", id, version: 1 } as const;
  const replaces = { name: "Paused", status: "active" };
  expect(await saveAgent(world, member, { definition, ...options, replaces })).toMatchObject({ version: 2 });
  expect(await inspectAgent(world, member, { agentId: id })).toMatchObject({ status: "inactive" });
  const renamed = { ...definition, name: "Renamed" };
  await saveAgent(world, member, { definition: renamed, replaces });
  const older = { definition: { ...definition, systemPrompt: "Be late." }, ...options, version: 2, replaces };
  await expect(saveAgent(world, member, older)).rejects.toMatchObject({
    code: "conflict",
    message: "Somebody changed this agent since you opened it; nothing was overwritten.",
  });
  await removeDefinition(world, member, { kind: "agent", id });
  await saveAgent(world, member, { definition, only: "create" });
  expect(await inspectAgent(world, member, { agentId: id })).toMatchObject({ status: "active" });
});
