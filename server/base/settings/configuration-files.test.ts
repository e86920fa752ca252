import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { readEnvironment } from "@/server/base/settings/env";
import { creditsOfActions, creditsOfUsage } from "@/server/credits/prices";
import { createModels } from "@/server/work/models/registry";
import { testClock } from "@/testing/clock";

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "configuration-"));
});
afterAll(() => rmSync(folder, { recursive: true }));

const page = readFileSync(join(import.meta.dirname, "../../../docs/configuration-files.md"), "utf8");
const sample = (name: string) =>
  new RegExp(`^\`\`\`yaml ${name}\\n([\\s\\S]*?)^\`\`\`$`, "m").exec(page)?.[1] ?? "";

function environment(variables: Record<string, string>) {
  const needed = { DATABASE_URL: "postgres://x", STEPWELL_SECRET: "s".repeat(32) };
  return readEnvironment({ ...needed, ...variables });
}

function write(text: string | Buffer): string {
  const path = join(folder, "file.yaml");
  writeFileSync(path, text);
  return path;
}

const thousand = { inputTokens: 1000, outputTokens: 1000 };

describe("PRICE_LIST", () => {
  it("sets prices, as the documentation's sample shows", () => {
    const { prices } = environment({ PRICE_LIST: write(sample("prices")) });
    expect(creditsOfUsage(prices, "gpt-5", thousand).toString()).toBe("11.25");
    const cached = { inputTokens: 1000, cachedInputTokens: 600, cacheWriteTokens: 400, outputTokens: 0 };
    expect(creditsOfUsage(prices, "claude-sonnet-4-5", cached).toString()).toBe("1.68");
    expect(creditsOfUsage(prices, "local/llama", thousand).toString()).toBe("0");
    expect(creditsOfUsage(prices, "unlisted", thousand).toString()).toBe("0.5");
    expect(creditsOfActions(prices, 3).toString()).toBe("0.03");
  });

  it("may be JSON, and omitted prices keep their default", () => {
    const { prices } = environment({ PRICE_LIST: write('{"action": "0.5"}') });
    expect(creditsOfActions(prices, 1).toString()).toBe("0.5");
    expect(creditsOfUsage(prices, "any", thousand).toString()).toBe("0.5");
    expect(environment({ PRICE_LIST: "" }).prices).toEqual(environment({}).prices);
  });

  it.each([
    ["action: -1", "action must be a number from 0"],
    ["action: 0.00001", "action must be a number from 0 with at most 4 decimal places"],
    ["action: free", "action must be a number from 0"],
    ["default: { input: 1 }", "default.output must be a number"],
    ["models: { big: { input: 1, output: .inf } }", "models.big.output must be a number"],
    ["modles: {}", 'Unrecognized key: "modles"'],
    ["- 1", "the file"],
    ["a: [", "cannot be read"],
  ])("%s is rejected by name", (text, message) => {
    const path = write(text);
    expect(() => environment({ PRICE_LIST: path })).toThrow(`PRICE_LIST ${path}`);
    expect(() => environment({ PRICE_LIST: path })).toThrow(message);
  });

  it("that does not exist is named", () => {
    expect(() => environment({ PRICE_LIST: "/nowhere.yaml" })).toThrow(
      "PRICE_LIST /nowhere.yaml cannot be read",
    );
  });

  it("that is not UTF-8 is rejected", () => {
    const path = write(Buffer.from("models: { größe: { input: 1, output: 1 } }", "latin1"));
    expect(() => environment({ PRICE_LIST: path })).toThrow("cannot be read: The text is not UTF-8.");
  });
});

describe("MODEL_PROVIDERS", () => {
  it("sets named providers, as the documentation's sample shows", () => {
    const keys = { OPENROUTER_API_KEY: "k", ANTHROPIC_API_KEY: "a" };
    const env = environment({ MODEL_PROVIDERS: write(sample("providers")), ...keys });
    expect(env.providers.map(({ name, api, apiKey }) => [name, api, apiKey])).toEqual([
      ["openrouter", undefined, "k"],
      ["azure", "responses", "0123456789abcdef"],
      ["anthropic", "anthropic", "a"],
      ["local", undefined, undefined],
    ]);
    const { openai, providers } = environment({
      MODEL_PROVIDERS: write(sample("providers")),
      ...keys,
      OPENAI_API_KEY: "o",
    });
    const models = createModels({ openai, providers, clock: testClock() });
    expect(["local/llama", "google/gemini-2.5-pro", "other", "demo"].map(models.providerOf)).toEqual([
      "local",
      "openrouter",
      "openai",
      "demo",
    ]);
    expect(providers.map(({ limits }) => limits?.get("local/llama")).at(-1)).toEqual({
      contextWindow: 32_768,
      maxOutputTokens: 8_192,
    });
  });

  const local = "name: local, baseUrl: 'http://127.0.0.1/v1'";
  it.each([
    ["[{ name: demo, baseUrl: 'http://x/v1' }]", "0.name is taken"],
    ["[{ name: local, baseUrl: 'ftp://x' }]", "0.baseUrl must be an http or https address"],
    [`[{ ${local} }, { ${local} }]`, '1.name "local" is used twice'],
    [
      `[{ ${local}, models: [m] }, { name: b, baseUrl: 'http://x', models: [m] }]`,
      `1.models "m" is already listed by local`,
    ],
    [`[{ ${local}, api: completions }]`, "0.api Invalid option"],
    [`[{ ${local}, models: [demo] }]`, "already listed by the demo model"],
    [
      `[{ ${local}, models: [{ name: m, contextWindow: 0 }] }]`,
      "0.models.0.contextWindow must be at least 1",
    ],
    [`[{ ${local}, models: [{ maxOutputTokens: 1 }] }]`, "0.models.0.name"],
    [`[{ ${local}, models: [m, { name: m }] }]`, '0.models "m" is already listed'],
    [`[{ ${local}, apiKeyFrom: NOT_SET }]`, "0.apiKeyFrom names NOT_SET, which is not set"],
    [`[{ ${local}, apiKey: a, apiKeyFrom: HOME }]`, "0 has both apiKey and apiKeyFrom"],
  ])("%s is rejected by name", (text, message) => {
    const path = write(text);
    expect(() => environment({ MODEL_PROVIDERS: path })).toThrow(`MODEL_PROVIDERS ${path} is wrong: `);
    expect(() => environment({ MODEL_PROVIDERS: path })).toThrow(message);
  });
});
