import { expect, it } from "vitest";
import { readToolText, saveToolText } from "@/server/catalog/edit-definition";
import { readStepOutputs } from "@/server/runs/read/step-outputs";
import { executeRun } from "@/testing/execute";
import { createMember } from "@/testing/runs";
import { createTenant, openWorld } from "@/testing/world";
import { tryTool } from "./try-definition";

const world = await openWorld();
const tenant = await createTenant(world);
const member = await createMember(world, tenant, "member");

const YAML = `slug: sum
name: Sum
parameters: { type: object, properties: { a: { type: number } }, required: [a] }
steps:
  - id: double
    uses: calculate
    with: { expression: "2 * {{ input.a }}" }
  - id: more
    uses: calculate
    with: { expression: "{{ steps.double }} + 1" }
output: "{{ steps.more }}"
`;
let saved: Promise<{ id: string }> | undefined;
const toolId = async () => {
  saved ??= saveToolText(world, member, { yaml: YAML, only: "create" });
  return (await saved).id;
};
const configurationOf = async (runId: string) => {
  const run = await world.db.run.findUniqueOrThrow({
    where: { id: runId },
    include: { configuration: true },
  });
  return { run, definition: JSON.parse(run.configuration.document).definition };
};

it("runs the draft, not the saved version, and marks the run's name", async () => {
  const id = await toolId();
  const yaml = YAML.replace("+ 1", "+ 100");
  const { runId } = await tryTool(world, member, { toolId: id, yaml, input: '{"a":3}', until: null });
  const { run, definition } = await configurationOf(runId);
  expect(run).toMatchObject({ targetName: "Sum (draft)", toolId: id, input: '{"a":3}' });
  expect(definition.steps[1].with.expression).toBe("{{ steps.double }} + 100");
  expect((await readToolText(world, member, { toolId: id })).yaml).toContain('+ 1"');
});

it("ends after a step, with its output", async () => {
  const id = await toolId();
  const { runId } = await tryTool(world, member, {
    toolId: id,
    yaml: YAML,
    input: '{"a":3}',
    until: "double",
  });
  const { definition } = await configurationOf(runId);
  expect(definition.steps.map((step: { id: string }) => step.id)).toEqual(["double"]);
  expect(definition.output).toBeUndefined();
  await expect(
    tryTool(world, member, { toolId: id, yaml: YAML, input: '{"a":3}', until: "missing" }),
  ).rejects.toThrow('There is no step "missing"');
});

it("runs one step alone, with the outputs that earlier steps had in a run", async () => {
  const id = await toolId();
  const draft = { toolId: id, yaml: YAML, input: '{"a":3}' };
  const first = await tryTool(world, member, { ...draft, until: "double" });
  const alone = { ...draft, until: "more", pinnedFrom: first.runId };
  await expect(tryTool(world, member, alone)).rejects.toThrow('No output of "double" is known');
  await executeRun(world, first.runId);
  const { runId } = await tryTool(world, member, alone);
  await executeRun(world, runId);
  const { run } = await configurationOf(runId);
  expect(run).toMatchObject({ status: "Completed", output: "7" });
  const steps = await world.db.step.findMany({ where: { runId }, select: { key: true } });
  expect(steps).toEqual([{ key: "more" }]);
});

it("reads outputs up to a size of all together", async () => {
  const yaml = `slug: large
name: Large
steps:
  - id: small
    uses: calculate
    with: { expression: "1 + 1" }
  - id: large
    forEach: "[1..10]"
    uses: transform_json
    with: { value: 1, expression: '$pad("", 240000, "x")' }
  - id: more
    forEach: "[1..10]"
    uses: transform_json
    with: { value: 1, expression: '$pad("", 240000, "x")' }
  - id: last
    uses: calculate
    with: { expression: "{{ $count(steps.more) }} + 0" }
`;
  const { id: toolId } = await saveToolText(world, member, { yaml, only: "create" });
  const draft = { toolId, yaml, input: "{}" };
  const { runId } = await tryTool(world, member, { ...draft, until: null });
  await executeRun(world, runId);
  expect((await configurationOf(runId)).run).toMatchObject({ output: "10", errorMessage: null });
  const outputs = await readStepOutputs(world, member, { runId });
  expect([...outputs.keys()]).toEqual(["small", "large"]);
  const alone = tryTool(world, member, { ...draft, until: "last", pinnedFrom: runId });
  await expect(alone).rejects.toThrow('No output of "more" is known, or it is too large.');
});

it("rejects invalid definitions with their paths, and input that the draft does not take", async () => {
  const id = await toolId();
  const faulty = { toolId: id, yaml: YAML.replace("steps.double", "steps.none"), input: "{}", until: null };
  await expect(tryTool(world, member, faulty)).rejects.toMatchObject({
    issues: [{ path: "/definition/steps/1/with/expression" }],
  });
  const stricter = YAML.replace("{ type: number }", "{ type: string }");
  await expect(
    tryTool(world, member, { toolId: id, yaml: stricter, input: '{"a":3}', until: null }),
  ).rejects.toMatchObject({ issues: [{ path: "/a" }] });
});

it.each(["\\u0000", "\\ud83d"])("rejects the input %s with its path", async (escaped) => {
  const draft = { toolId: await toolId(), yaml: YAML, until: null };
  const input = `{"a":3,"b":["${escaped}"]}`;
  await expect(tryTool(world, member, { ...draft, input })).rejects.toMatchObject({
    code: "invalid_request",
    issues: [{ path: "/b/0" }],
  });
});

it("is forbidden to viewers and for another organization's tool", async () => {
  const draft = { toolId: await toolId(), yaml: YAML, input: '{"a":3}', until: null };
  const viewer = await createMember(world, tenant, "viewer");
  await expect(tryTool(world, viewer, draft)).rejects.toMatchObject({ code: "forbidden" });
  const stranger = await createMember(world, await createTenant(world), "owner");
  await expect(tryTool(world, stranger, draft)).rejects.toMatchObject({ code: "not_found" });
});
