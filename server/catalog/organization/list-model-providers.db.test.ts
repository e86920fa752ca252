import { expect, it } from "vitest";
import { applyDefinitionFile } from "@/server/catalog/definition-file/apply";
import { createTenant, openWorld } from "@/testing/world";
import { listModelProviders, listProviderUsers } from "./list-model-providers";
import { operatorOf } from "./organizations";

const world = await openWorld();

it("models that are only fallbacks are in use", async () => {
  const tenant = await createTenant(world);
  await applyDefinitionFile(
    world,
    `organizations:
  - slug: ${tenant.slug}
    modelProviders:
      - { name: near, baseUrl: "http://models.example/v1", models: [near/large, near/small] }
    tools:
      - slug: direct
        name: Direct
        steps: [{ id: text, uses: generate_text, with: { prompt: Hi, model: near/large } }]
      - slug: grouped
        name: Grouped
        steps:
          - id: both
            parallel: [{ id: text, uses: generate_text, with: { prompt: Hi, fallbackModels: [other, near/small] } }]
      - slug: other
        name: Other
        steps:
          - { id: text, uses: generate_text, with: { prompt: Hi, model: other } }
          - { id: post, uses: http_request, with: { url: "https://a.example", body: { model: near/large } } }
    agents:
      - { slug: first, name: First, model: near/large, fallbackModels: [near/small] }
      - { slug: second, name: Second, model: far-a, fallbackModels: [far-b, near/small] }
      - { slug: third, name: Third, model: far-a }
`,
  );
  const by = await operatorOf(world, tenant.slug);
  const users = await listProviderUsers(world, by, { name: "near" });
  expect(users.map(({ kind, name }) => `${kind} ${name}`)).toEqual([
    "agent First",
    "agent Second",
    "tool Direct",
    "tool Grouped",
  ]);
  const { own, others } = await listModelProviders(world, by);
  expect(own[0]?.models.map(({ name, agents }) => [name, agents])).toEqual([
    ["near/large", 1],
    ["near/small", 2],
  ]);
  // Two of these agents and that of the tenant name models that no provider lists. One of them names two.
  expect(others.agents).toBe(3);
});
