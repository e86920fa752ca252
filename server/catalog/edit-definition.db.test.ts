import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { MemberActor } from "@/server/base/actor";
import { readJson } from "@/server/base/json/json";
import { createMember } from "@/testing/runs";
import { createTenant, createWorld, type Tenant, type World } from "@/testing/world";
import { agentDefinition } from "./definitions";
import {
  checkToolText,
  readAgentDefinition,
  readChoices,
  readEditedAgent,
  readToolText,
  saveToolText,
} from "./edit-definition";
import { saveAgent } from "./save-agent";

let world: World;
let tenant: Tenant;
let member: MemberActor;
beforeAll(async () => {
  world = await createWorld();
  tenant = await createTenant(world);
  member = await createMember(world, tenant, "member");
  // Starts the thread that checks expressions: on a busy machine it takes longer than a transaction may be idle.
  await checkToolText(world, member, { yaml: YAML });
});
afterAll(() => world.close());

const YAML = `slug: greet
name: Greet
description: Greets a city.
parameters:
  type: object
  properties: { city: { type: string } }
steps:
  - id: hello
    uses: transform_json
    with:
      value: "{{ input }}"
      expression: '"Hello " & city'
output: "{{ steps.hello }}"
`;
const create = { only: "create" } as const;

describe("a tool's YAML", () => {
  it("is saved, read back and saved again without a new version", async () => {
    const saved = await saveToolText(world, member, { yaml: YAML, ...create });
    expect(saved).toMatchObject({ slug: "greet", version: 1, saved: "created" });
    const { yaml, version } = await readToolText(world, member, { toolId: saved.id });
    expect(version).toBe(1);
    const expected = { only: "update", id: saved.id, version } as const;
    const again = await saveToolText(world, member, { yaml, ...expected });
    expect(again).toMatchObject({ id: saved.id, version: 1, saved: "unchanged" });
  });

  it("is checked with the line of each problem, in every part", async () => {
    expect(await checkToolText(world, member, { yaml: YAML })).toEqual([]);
    expect(
      await checkToolText(world, member, { yaml: YAML.replace("transform_json", "transform") }),
    ).toMatchObject([{ line: 9, message: expect.stringContaining('"transform"') }]);
    expect(
      await checkToolText(world, member, { yaml: YAML.replace("steps.hello", "steps.helo") }),
    ).toMatchObject([{ line: 13, repair: { label: "Use hello" } }]);
    expect(
      await checkToolText(world, member, { yaml: YAML.replace("name: Greet", "nam: Greet") }),
    ).toMatchObject([
      { message: "name is required" },
      {
        line: 2,
        message: expect.stringContaining("nam is not known here; known fields: slug, name"),
        repair: { label: "Use name", change: { rename: "name" } },
      },
    ]);
    const inner = YAML.replace("uses:", "use:");
    expect(await checkToolText(world, member, { yaml: inner })).toMatchObject([
      { line: 9, path: ["steps", 0, "use"], repair: { label: "Use uses" } },
      { line: 8 },
    ]);
    // Both names are taken.
    const both = `${YAML}outputs: 1\n`;
    expect((await checkToolText(world, member, { yaml: both })).map(({ repair }) => repair)).toEqual([
      undefined,
    ]);
    const several = YAML.replace("name: Greet", "nam: Greet").replace("transform_json", "transform");
    expect(
      await checkToolText(world, member, { yaml: several.replace("steps.hello", "steps.helo") }),
    ).toMatchObject([
      { message: "name is required" },
      { line: 2, message: expect.stringContaining("nam is not known here; known fields: slug, name") },
      { line: 9, message: expect.stringContaining('"transform"; known functions: ') },
      { line: 13, message: 'output there is no step "helo"; steps before this one: hello' },
    ]);
    const nested = YAML.replace(/steps:\n[\s\S]*output/, "steps: [{ id: a, forEach: x, steps: [] }]\noutput");
    expect(await checkToolText(world, member, { yaml: nested })).toContainEqual(
      expect.objectContaining({
        line: 7,
        message: expect.stringContaining(
          "steps[0].steps is not known here: groups and forEach take single steps",
        ),
      }),
    );
    expect(await checkToolText(world, member, { yaml: "slug: [\n" })).toMatchObject([
      { line: expect.any(Number) },
    ]);
    expect(await checkToolText(world, member, { yaml: "" })).toMatchObject([{ message: expect.any(String) }]);
  });

  it.each([
    ['"Hello \\uD83D"', "steps[0].with.value must not contain an unpaired surrogate"],
    ['{ "a\\0": 1 }', "must not contain U+0000"],
    ["0755", 'YAML reads 0755 as a number. Write "0755" in quotes.'],
  ])("with the value %s is rejected at its line: nothing is converted", async (value, message) => {
    const yaml = YAML.replace('"{{ input }}"', value);
    expect(await checkToolText(world, member, { yaml })).toMatchObject([
      { line: 11, message: expect.stringContaining(message) },
    ]);
  });

  it("with problems is rejected with their paths, and nothing is saved", async () => {
    const yaml = YAML.replace("slug: greet", "slug: other").replace("transform_json", "transform");
    await expect(saveToolText(world, member, { yaml, ...create })).rejects.toMatchObject({
      code: "invalid_request",
      issues: [{ path: "/definition/steps/0/uses", message: expect.any(String) }],
    });
    const found = await world.db.tool.findFirst({ where: { organizationId: tenant.orgId, slug: "other" } });
    expect(found).toBeNull();
  });

  it("calls itself and what there is; any other name is rejected with its line and the known names", async () => {
    const call = (tool: string) => `slug: loop
name: Loop
steps:
  - id: call
    uses: run_tool
    with: { tool: ${tool} }
`;
    const message =
      /^steps\[0\]\.with\.tool "nope" is not a tool of the organization\. Known tools: adder, .*loop/;
    expect(await checkToolText(world, member, { yaml: call("loop") })).toEqual([]);
    expect(await checkToolText(world, member, { yaml: call("adder") })).toEqual([]);
    expect(await checkToolText(world, member, { yaml: call('"{{ input.tool }}"') })).toEqual([]);
    expect(await checkToolText(world, member, { yaml: call("addr") })).toMatchObject([
      { line: 6, repair: { label: "Use adder", change: { from: "addr", to: "adder" } } },
    ]);
    expect(await checkToolText(world, member, { yaml: call("nope") })).toEqual([
      expect.objectContaining({ line: 6, message: expect.stringMatching(message) }),
    ]);
    // The slug may be missing while one types, or be what no database holds.
    expect(
      await checkToolText(world, member, { yaml: call("nope").replace("slug: loop", "") }),
    ).toMatchObject([{ message: "slug is required" }, { line: 6 }]);
    expect(
      await checkToolText(world, member, { yaml: call('"a\\0"').replace("loop", '"b\\0"') }),
    ).toMatchObject([{ line: 1 }, { line: 6, message: expect.stringContaining("is not a tool") }]);
    await expect(saveToolText(world, member, { yaml: call("nope"), ...create })).rejects.toMatchObject({
      code: "invalid_request",
      issues: [
        { path: "/definition/steps/0/with/tool", message: expect.stringMatching(/^"nope" is not a tool/) },
      ],
    });
    expect(await saveToolText(world, member, { yaml: call("loop"), ...create })).toMatchObject({
      version: 1,
    });
  });

  it("of a version that is no longer current is rejected", async () => {
    const yaml = YAML.replace("slug: greet", "slug: raced");
    const { id } = await saveToolText(world, member, { yaml, ...create });
    const change = (hello: string, version: number) =>
      saveToolText(world, member, {
        yaml: yaml.replace("Hello", hello),
        only: "update",
        id,
        version,
      });
    await change("Hi", 1);
    await expect(change("Hey", 1)).rejects.toThrow("was saved since you opened version 1");
    expect((await readToolText(world, member, { toolId: id })).yaml).toContain("Hi");
  });

  it("cannot change its slug, so that no other tool is overwritten", async () => {
    const [edited, victim] = ["edited", "victim"].map((slug) => YAML.replace("slug: greet", `slug: ${slug}`));
    const { id } = await saveToolText(world, member, { yaml: edited ?? "", ...create });
    const other = await saveToolText(world, member, { yaml: victim ?? "", ...create });
    for (const slug of ["victim", "unused"]) {
      const yaml = YAML.replace("slug: greet", `slug: ${slug}`).replace("Hello", "Changed");
      await expect(
        saveToolText(world, member, { yaml, only: "update", id, version: 1 }),
      ).rejects.toMatchObject({
        code: "invalid_request",
        issues: [{ path: "/definition/slug", message: expect.stringContaining("cannot be changed") }],
      });
    }
    expect(await readToolText(world, member, { toolId: other.id })).toMatchObject({
      version: 1,
      slug: "victim",
    });
  });

  it("keeps a description that changed since the text was opened", async () => {
    const yaml = YAML.replace("slug: greet", "slug: described");
    const saved = await saveToolText(world, member, { yaml, ...create });
    const { description, name } = await readToolText(world, member, { toolId: saved.id });
    const { id } = saved;
    const expected = { only: "update", id, version: 1, replaces: { name, description } } as const;
    const described = yaml.replace("Greets a city.", "Greets.");
    expect(await saveToolText(world, member, { yaml: described, ...expected })).toMatchObject({ version: 1 });
    const mine = yaml.replace("Greets a city.", "Welcomes.");
    await expect(saveToolText(world, member, { yaml: mine, ...expected })).rejects.toMatchObject({
      code: "conflict",
      message: "Somebody changed this tool since you opened it; nothing was overwritten.",
    });
    expect(await readToolText(world, member, { toolId: id })).toMatchObject({ description: "Greets." });
  });

  it("is not shown to another organization, and saved by no viewer", async () => {
    const saved = await saveToolText(world, member, {
      yaml: YAML.replace("slug: greet", "slug: mine"),
      ...create,
    });
    const stranger = await createMember(world, await createTenant(world), "owner");
    await expect(readToolText(world, stranger, { toolId: saved.id })).rejects.toMatchObject({
      code: "not_found",
    });
    const viewer = await createMember(world, tenant, "viewer");
    await expect(saveToolText(world, viewer, { yaml: YAML, ...create })).rejects.toMatchObject({
      code: "forbidden",
    });
  });
});

it("an agent's definition is read as it is saved", async () => {
  const input = {
    slug: "desk",
    name: "Desk",
    model: "gpt-5-mini",
    systemPrompt: "Help.",
    maxSteps: 4,
    functions: ["calculate"],
    // Not in the order of their names or ids.
    tools: ["second", "first"],
    maxCredits: "2.5",
    deadlineSeconds: 60,
  };
  for (const slug of ["first", "second"]) {
    await saveToolText(world, member, { yaml: YAML.replace("slug: greet", `slug: ${slug}`), ...create });
  }
  const { id } = await saveAgent(world, member, { definition: input });
  const { definition, version } = await readAgentDefinition(world, member, { agentId: id });
  expect(definition).toEqual({ ...input, status: "active", policies: {} });
  const expected = { only: "update", id, version } as const;
  expect(await saveAgent(world, member, { definition, ...expected })).toMatchObject({ saved: "unchanged" });
  const renamed = { ...definition, slug: "desk-2" };
  await expect(saveAgent(world, member, { definition: renamed, ...expected })).rejects.toMatchObject({
    issues: [{ path: "/slug", message: expect.stringContaining("cannot be changed") }],
  });
});

it("choices are the organization's own, each model with its provider and price", async () => {
  const own = await createTenant(world);
  const member = await createMember(world, own, "member");
  const other = await createTenant(world);
  const stranger = await createMember(world, other, "owner");
  await saveToolText(world, stranger, { yaml: YAML.replace("slug: greet", "slug: theirs"), ...create });
  for (const slug of ["one", "two"])
    await saveAgent(world, member, { definition: { slug, name: slug, model: "much-used" } });
  const { models, otherModel, functions, tools, agents } = await readChoices(world, member);
  expect(models[0]).toMatchObject({ name: "much-used", provider: "test", input: "0.1", output: "0.4" });
  expect(models.map(({ name }) => name)).toContain("test-model");
  expect(otherModel).toMatchObject({ provider: "test", input: "0.1", output: "0.4" });
  expect(functions.map(({ name }) => name)).toContain("calculate");
  expect(agents.map(({ slug }) => slug)).toEqual(expect.arrayContaining(["one", "two"]));
  const foreign = await readChoices(world, stranger);
  expect(foreign.tools.map(({ slug }) => slug)).toContain("theirs");
  expect(tools.map(({ slug }) => slug)).not.toContain("theirs");
  expect(foreign.agents.map(({ slug }) => slug)).not.toContain("one");
  expect(foreign.models.map(({ name }) => name)).not.toContain("much-used");
});

it("forms get an agent's numbers that a double cannot hold as a text", async () => {
  const sent = (definition: object) =>
    agentDefinition.parse(
      readJson(
        JSON.stringify({ slug: "exact", name: "Exact", model: "m", ...definition }).replaceAll(
          '"ID"',
          "8202522731445525542",
        ),
      ),
    );
  const definition = sent({ modelOptions: { seed: "ID" }, outputSchema: { maximum: "ID" } });
  const { id } = await saveAgent(world, member, { definition, only: "create" });
  const read = await readEditedAgent(world, member, { agentId: id });
  expect(JSON.parse(JSON.stringify(read)).exact).toBe(
    '{"modelOptions":{"seed":8202522731445525542},"outputSchema":{"maximum":8202522731445525542}}',
  );
  const plain = sent({ modelOptions: { seed: 5 } });
  await saveAgent(world, member, { definition: plain, only: "update" });
  expect(await readEditedAgent(world, member, { agentId: id })).toMatchObject({
    exact: null,
    definition: { modelOptions: { seed: 5 } },
  });
});
