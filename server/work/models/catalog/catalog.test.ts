import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { createModels } from "@/server/work/models/registry";
import { testClock } from "@/testing/clock";
import { findModelFacts, listCatalogModels } from "./find-model-facts";
import { catalogFile } from "./model-facts";

const OPENAI = "https://api.openai.com/v1";
const GATEWAY = "http://127.0.0.1:4000/v1";
const text = readFileSync(new URL("models.json", import.meta.url), "utf8");
const catalog = catalogFile.parse(JSON.parse(text));

test("a model is found by its provider's address and its name", async () => {
  expect(await findModelFacts({ baseUrl: OPENAI, model: "gpt-4.1" })).toEqual({
    contextWindow: 1_047_576,
    maxOutputTokens: 32_768,
    images: true,
    dollars: { input: 2, output: 8, cachedInput: 0.5 },
  });
  expect(await findModelFacts({ baseUrl: "https://eu.api.openai.com/v1", model: "gpt-4.1" })).toMatchObject({
    maxOutputTokens: 32_768,
  });
});

test.each([
  [GATEWAY, "gpt-4.1"],
  [GATEWAY, "openai/GPT-4.1"],
  [GATEWAY, "azure/gpt-4.1-2025-04-14"],
  [OPENAI, "gpt-4.1-2025-04-14"],
  ["https://openrouter.ai/api/v1", "openai/gpt-4.1:floor"],
])("at %s, %s is recognized", async (baseUrl, model) => {
  expect(await findModelFacts({ baseUrl, model })).toMatchObject({ contextWindow: 1_047_576 });
});

test("a provider's own entry wins over that of the vendor", async () => {
  const { models } = catalog.providers.find(({ name }) => name === "groq") ?? { models: {} };
  const [name = "", facts] = Object.entries(models).find(([each]) => each.includes("/")) ?? [];
  expect(await findModelFacts({ baseUrl: "https://api.groq.com/openai/v1", model: name })).toEqual(facts);
});

test.each(["", "my-own-model", "constructor", "__proto__", "openai/"])("%j is unknown", async (model) => {
  expect(await findModelFacts({ baseUrl: OPENAI, model })).toEqual({});
});

test("the catalog lists the models of an address that it knows", async () => {
  expect(await listCatalogModels(OPENAI)).toContain("gpt-4.1");
  expect(await listCatalogModels("https://notapi.openai.com/v1")).toEqual([]);
  expect(await listCatalogModels("no address")).toEqual([]);
});

test("what the operator states wins", async () => {
  const models = createModels({
    clock: testClock(),
    providers: [
      {
        name: "gateway",
        baseUrl: GATEWAY,
        models: ["gpt-4.1", "mine"],
        limits: new Map([
          ["gpt-4.1", { maxOutputTokens: 1_000 }],
          ["mine", { contextWindow: 8_192 }],
        ]),
      },
    ],
  });
  expect(await models.factsOf("gpt-4.1")).toMatchObject({ contextWindow: 1_047_576, maxOutputTokens: 1_000 });
  expect(await models.factsOf("mine")).toEqual({ contextWindow: 8_192 });
  expect(await models.factsOf("demo")).toEqual({});
});

test("the catalog is small and names its source", () => {
  expect(Buffer.byteLength(text)).toBeLessThan(128 * 1024);
  expect(catalog.source).toMatch(/^\S+ \d+\.\d+\.\d+ \(MIT\)$/);
});
