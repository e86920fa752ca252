import { randomUUID } from "node:crypto";
import { expect, it } from "vitest";
import { readToolText, saveToolText } from "@/server/catalog/edit-definition";
import { readStepOutputs } from "@/server/runs/read/step-outputs";
import { readStepValues } from "@/server/runs/read/step-values";
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
  const alone = { ...draft, until: "more", pinned: { double: { runId: first.runId, step: "double" } } };
  await expect(tryTool(world, member, alone)).rejects.toThrow('No output of "double" is known');
  await executeRun(world, first.runId);
  const { runId } = await tryTool(world, member, alone);
  await executeRun(world, runId);
  const { run } = await configurationOf(runId);
  expect(run).toMatchObject({ status: "Completed", output: "7" });
  const steps = await world.db.step.findMany({ where: { runId }, select: { key: true } });
  expect(steps).toEqual([{ key: "more" }]);
});

it("keeps a pinned output of an earlier run, under the step's new id, and executes the others", async () => {
  const id = await toolId();
  const draft = { toolId: id, yaml: YAML, input: '{"a":3}', until: null };
  const first = await tryTool(world, member, draft);
  await executeRun(world, first.runId);
  const yaml = YAML.replaceAll("double", "twice").replace("+ 1", "+ 100");
  const pinned = { twice: { runId: first.runId, step: "double" }, gone: null };
  const { runId } = await tryTool(world, member, { ...draft, yaml, input: '{"a":5}', pinned });
  await executeRun(world, runId);
  // With the new input, the step would return 10.
  expect((await configurationOf(runId)).run).toMatchObject({ status: "Completed", output: "106" });
  expect(await world.db.step.findMany({ where: { runId }, select: { key: true } })).toEqual([
    { key: "more" },
  ]);
});

it("rejects pinned outputs of more than 20 runs, and of another organization's", async () => {
  const draft = { toolId: await toolId(), yaml: YAML, input: '{"a":3}', until: null };
  const pins = Array.from({ length: 21 }, (_, index) => [
    `step_${index}`,
    { runId: randomUUID(), step: "double" },
  ]);
  const many = { ...Object.fromEntries(pins), double: { runId: randomUUID(), step: "double" } };
  await expect(tryTool(world, member, { ...draft, pinned: many })).rejects.toThrow("more than 20 runs");
  const { runId } = await tryTool(world, member, draft);
  const other = await createTenant(world);
  const stranger = await createMember(world, other, "owner");
  const own = await saveToolText(world, stranger, { yaml: YAML, only: "create" });
  const pinned = { double: { runId, step: "double" } };
  await expect(tryTool(world, stranger, { ...draft, toolId: own.id, pinned })).rejects.toMatchObject({
    code: "not_found",
  });
});

it("reads what conditions evaluated to", async () => {
  const yaml = `slug: conditions
name: Conditions
parameters: { properties: { a: { type: number } } }
steps:
  - { id: double, uses: calculate, with: { expression: "2 * {{ input.a }}" } }
  - { id: large, if: steps.double > 5, uses: calculate, with: { expression: "1" } }
  - { id: small, if: "{{ steps.double < 5 }}", uses: calculate, with: { expression: "1" } }
  - { id: given, if: input.b, uses: calculate, with: { expression: "1" } }
`;
  const { id } = await saveToolText(world, member, { yaml, only: "create" });
  const { runId } = await tryTool(world, member, { toolId: id, yaml, input: '{"a":3}', until: null });
  expect((await readStepValues(world, member, { runId })).conditions).toEqual([]);
  await executeRun(world, runId);
  const read = [{ path: "steps.double", value: "6" }];
  expect((await readStepValues(world, member, { runId })).conditions).toEqual([
    { id: "large", expression: "steps.double > 5", isMet: true, value: "true", read },
    { id: "small", expression: "{{ steps.double < 5 }}", isMet: false, value: "false", read },
    { id: "given", expression: "input.b", isMet: false, value: null, read: [] },
  ]);
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
  const pinned = Object.fromEntries(["small", "large", "more"].map((step) => [step, { runId, step }]));
  const alone = tryTool(world, member, { ...draft, until: "last", pinned });
  await expect(alone).rejects.toThrow('No output of "more" is known, or it is too large.');
});

it("rejects invalid definitions with their paths, and input that the draft does not take", async () => {
  const id = await toolId();
  const invalid = { toolId: id, yaml: YAML.replace("steps.double", "steps.none"), input: "{}", until: null };
  await expect(tryTool(world, member, invalid)).rejects.toMatchObject({
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
