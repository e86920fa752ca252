import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { JsonObject } from "@/server/base/json/json";
import { applyDefinitionFile } from "@/server/catalog/definition-file/apply";
import { readDefinitionFile } from "@/server/catalog/definition-file/definition-file";
import { exportOrganization } from "@/server/catalog/definition-file/export";
import { operatorOf } from "@/server/catalog/organization/organizations";
import { ProcessMemory } from "@/server/guard/limits/process-memory";
import { executeFunction } from "@/server/work/functions/core/execute";
import { runWorkflow } from "@/server/work/workflow/interpret";
import { testFunctionContext } from "@/testing/function-context";
import { openWorld } from "@/testing/world";

const FOLDER = import.meta.dirname;
const files = (await readdir(FOLDER)).filter((file) => file.endsWith(".yaml"));

const catalog = await openWorld({ env: { APP_URL: "https://stepwell.test/" } });

const read = (file: string) => readFile(join(FOLDER, file), "utf8");

test("there are examples", () => {
  expect(files).toContain("demo.yaml");
});

test.each(files)("%s can be applied, exported, and applied again without a change", async (file) => {
  const source = await read(file);
  for (const { saved, slug } of await applyDefinitionFile(catalog, source)) {
    expect(saved).toBe("created");
    const exported = await exportOrganization(catalog, await operatorOf(catalog, slug));
    for (const again of [exported, source]) {
      const [organization] = await applyDefinitionFile(catalog, again);
      const {
        secrets = [],
        tools = [],
        agents = [],
        triggers = [],
        apiKeys = [],
        members = [],
      } = organization ?? {};
      const outcomes = [organization, ...secrets, ...tools, ...agents, ...triggers, ...apiKeys, ...members];
      expect(new Set(outcomes.map((outcome) => outcome?.saved))).toEqual(new Set(["unchanged"]));
    }
  }
});

/** Runs an example's tool with real functions and a scripted HTTP server and model. */
async function runTool(file: string, slug: string, input: JsonObject, answers: Record<string, unknown> = {}) {
  const { organizations } = await readDefinitionFile(await read(file));
  const declared = organizations.flatMap(({ tools }) => tools.map(({ definition }) => definition));
  const tool = declared.find((candidate) => candidate?.slug === slug);
  if (!tool) throw new Error(`${file} has no tool ${slug}`);
  const context = testFunctionContext({
    fetch: async (url) => Response.json(answers[new URL(url).hostname]),
    callModel: async () => ({
      content: "Please leave it with the neighbor",
      state: null,
      toolCalls: [],
      finishReason: "stop",
      usage: { inputTokens: 1, outputTokens: 1, estimated: false },
      provider: "test",
      attempts: [],
    }),
  });
  const facts = {
    id: "run-1",
    organizationId: "org-1",
    startedAt: context.clock.now(),
    toolName: tool.name,
    signal: new AbortController().signal,
    memory: new ProcessMemory().openRun("org-1"),
  };
  const outcome = await runWorkflow(tool, {
    input: JSON.stringify(input),
    facts,
    journal: {
      call: ({ functionName, input }) =>
        executeFunction(functionName, { input, context }).then(
          (output) => ({ ok: true as const, output: JSON.stringify(output) }),
          (error: Error) => ({ ok: false as const, message: error.message, code: "failed" }),
        ),
      skip: () => {},
      fork: (works) => Promise.all(works.map((work) => work())),
    },
  });
  return outcome.status === "Completed" ? { ...outcome, output: JSON.parse(outcome.output) } : outcome;
}

test("the demo's quote gives a discount for ten pieces or more", async () => {
  const input = { item: "lamp", quantity: 12, unitPrice: 19.99 };
  expect(await runTool("demo.yaml", "quote", input)).toMatchObject({
    status: "Completed",
    output: { item: "lamp", quantity: 12, subtotal: 239.88, total: 215.89, text: "12 × lamp: 215.89" },
  });
  const one = await runTool("demo.yaml", "quote", { ...input, quantity: 1 });
  expect(one).toMatchObject({ output: { subtotal: 19.99, total: 19.99 } });
});

test("an order is totalled, with and without a remark", async () => {
  const lines = [
    { sku: "a", quantity: 3, price: 0.1 },
    { sku: "b", quantity: 1, price: 1000 },
  ];
  expect(await runTool("orders.yaml", "total-order", { id: "o-1", lines, remark: "…" })).toMatchObject({
    status: "Completed",
    output: { id: "o-1", total: 1000.3, large: true, remark: "Please leave it with the neighbor" },
  });
  expect(await runTool("orders.yaml", "total-order", { id: "o-2", lines: lines.slice(0, 1) })).toMatchObject({
    output: { id: "o-2", total: 0.3, large: false, remark: null },
  });
});

test("finds the weather of a place, and none for an unknown place", async () => {
  const answers = {
    "geocoding-api.open-meteo.com": { results: [{ name: "Oslo", latitude: 59.9, longitude: 10.7 }] },
    "api.open-meteo.com": { current: { temperature_2m: -3.5, wind_speed_10m: 12 } },
  };
  expect(await runTool("weather.yaml", "current-weather", { place: "oslo" }, answers)).toMatchObject({
    status: "Completed",
    output: { place: "Oslo", temperature: -3.5, wind: 12 },
  });
  const nowhere = { "geocoding-api.open-meteo.com": {} };
  expect(await runTool("weather.yaml", "current-weather", { place: "xyz" }, nowhere)).toMatchObject({
    output: { place: null, temperature: null, wind: null },
  });
});
