import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { MemberActor } from "@/server/auth/actor";
import { createMember } from "@/testing/runs";
import { createTenant, createWorld, type Tenant, type World } from "@/testing/world";
import {
  checkToolText,
  readAgentDefinition,
  readChoices,
  readToolText,
  saveToolText,
} from "./edit-definition";
import { saveAgent } from "./save-agent";

/** Reading, checking and saving single definitions, as the dashboard's editors do. */

let world: World;
let tenant: Tenant;
let member: MemberActor;
beforeAll(async () => {
  world = await createWorld();
  tenant = await createTenant(world);
  member = await createMember(world, tenant, "member");
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
    const saved = await saveToolText(world, member, { yaml: YAML, expected: create });
    expect(saved).toMatchObject({ slug: "greet", version: 1, saved: "created" });
    const { yaml, version } = await readToolText(world, member, saved.id);
    expect(version).toBe(1);
    const again = await saveToolText(world, member, { yaml, expected: { only: "update", version } });
    expect(again).toMatchObject({ id: saved.id, version: 1, saved: "unchanged" });
  });

  it("is checked with the line of each problem, in every part", async () => {
    expect(await checkToolText(world, member, YAML)).toEqual([]);
    expect(await checkToolText(world, member, YAML.replace("transform_json", "transform"))).toMatchObject([
      { line: 9, message: expect.stringContaining('"transform"') },
    ]);
    expect(await checkToolText(world, member, YAML.replace("steps.hello", "steps.helo"))).toMatchObject([
      { line: 13 },
    ]);
    expect(await checkToolText(world, member, YAML.replace("name: Greet", "nam: Greet"))).toMatchObject([
      { message: "name is required" },
      { line: 2, message: "nam is not known here" },
    ]);
    const several = YAML.replace("name: Greet", "nam: Greet").replace("transform_json", "transform");
    expect(await checkToolText(world, member, several.replace("steps.hello", "steps.helo"))).toMatchObject([
      { message: "name is required" },
      { line: 2, message: "nam is not known here" },
      { line: 9, message: expect.stringContaining('"transform"; known functions: ') },
      { line: 13, message: 'output there is no step "helo"; steps before this one: hello' },
    ]);
    const nested = YAML.replace(/steps:\n[\s\S]*output/, "steps: [{ id: a, forEach: x, steps: [] }]\noutput");
    expect(await checkToolText(world, member, nested)).toContainEqual({
      line: 7,
      message: expect.stringContaining(
        "steps[0].steps is not known here: groups and forEach take single steps",
      ),
    });
    expect(await checkToolText(world, member, "slug: [\n")).toMatchObject([{ line: expect.any(Number) }]);
    expect(await checkToolText(world, member, "")).toMatchObject([{ message: expect.any(String) }]);
  });

  it("with problems is refused with their lines, and nothing is saved", async () => {
    const yaml = YAML.replace("slug: greet", "slug: other").replace("transform_json", "transform");
    await expect(saveToolText(world, member, { yaml, expected: create })).rejects.toMatchObject({
      code: "invalid_request",
      issues: [{ path: "/line/9" }],
    });
    const found = await world.db.tool.findFirst({ where: { organizationId: tenant.orgId, slug: "other" } });
    expect(found).toBeNull();
  });

  it("of a version that is no longer current is refused", async () => {
    const yaml = YAML.replace("slug: greet", "slug: raced");
    const { id } = await saveToolText(world, member, { yaml, expected: create });
    const change = (hello: string, version: number) =>
      saveToolText(world, member, {
        yaml: yaml.replace("Hello", hello),
        expected: { only: "update", version },
      });
    await change("Hi", 1);
    await expect(change("Hey", 1)).rejects.toThrow("was saved since you opened version 1");
    expect((await readToolText(world, member, id)).yaml).toContain("Hi");
  });

  it("is another organization's secret, and no viewer saves one", async () => {
    const saved = await saveToolText(world, member, {
      yaml: YAML.replace("slug: greet", "slug: mine"),
      expected: create,
    });
    const stranger = await createMember(world, await createTenant(world), "owner");
    await expect(readToolText(world, stranger, saved.id)).rejects.toMatchObject({ code: "not_found" });
    const viewer = await createMember(world, tenant, "viewer");
    await expect(saveToolText(world, viewer, { yaml: YAML, expected: create })).rejects.toMatchObject({
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
    tools: [],
    maxCredits: "2.5",
    deadlineSeconds: 60,
  };
  const { id } = await saveAgent(world, member, input);
  const { definition, version } = await readAgentDefinition(world, member, id);
  expect(definition).toEqual({ ...input, status: "active" });
  expect(await saveAgent(world, member, definition, { only: "update", version })).toMatchObject({
    saved: "unchanged",
  });
});

it("choices are the organization's own", async () => {
  const { models, functions, tools } = await readChoices(world, member);
  expect(models).toContain("gpt-5-mini");
  expect(functions.map(({ name }) => name)).toContain("calculate");
  const stranger = await createMember(world, await createTenant(world), "owner");
  const foreign = await readChoices(world, stranger);
  expect(tools.map(({ slug }) => slug)).toContain("greet");
  expect(foreign.tools.map(({ slug }) => slug)).not.toContain("greet");
});
