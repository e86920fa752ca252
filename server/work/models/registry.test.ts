import { expect, test } from "vitest";
import { apiOf } from "@/server/base/model-api";
import { createModels } from "@/server/work/models/registry";
import { testClock } from "@/testing/clock";
import { startModelServer } from "@/testing/servers/model-server";

const clock = testClock();

test("a model is called at the provider that lists it, or else at the default one", () => {
  const models = createModels({
    clock,
    openai: { apiKey: "k", baseUrl: undefined },
    providers: [{ name: "local", baseUrl: "http://127.0.0.1:1/v1", models: ["llama", "qwen"] }],
  });
  expect(models.providerOf("qwen")).toBe("local");
  expect(models.providerOf("gpt-5-mini")).toBe("openai");
  expect(models.providerOf("whatever")).toBe("openai");
  expect(models.providerOf("demo")).toBe("demo");
  expect(createModels({ clock, providers: [{ name: "local", models: ["a"] }] }).providerOf("b")).toBe(
    "local",
  );
});

test.each<[Parameters<typeof apiOf>[0], string]>([
  [{}, "responses"],
  [{ baseUrl: "https://api.openai.com/v1" }, "responses"],
  [{ baseUrl: "https://eu.api.openai.com/v1" }, "responses"],
  [{ baseUrl: "https://notapi.openai.com/v1" }, "chat"],
  [{ baseUrl: "https://api.openai.com.test/v1" }, "chat"],
  [{ baseUrl: "http://127.0.0.1:1/v1" }, "chat"],
  [{ baseUrl: "http://127.0.0.1:1/v1", api: "responses" }, "responses"],
  [{ api: "chat" }, "chat"],
])("the interface of %j is %s", (provider, expected) => {
  expect(apiOf(provider)).toBe(expected);
});

test("without a provider the demo model answers to any name", async () => {
  const models = createModels({ clock });
  expect(models.providerOf("gpt-5-mini")).toBe("demo");
  const reply = await models.call({
    model: "gpt-5-mini",
    messages: [{ role: "user", content: "hello" }],
    tools: [],
    maxOutputTokens: 1000,
    signal: new AbortController().signal,
  });
  expect(reply.provider).toBe("demo");
});

test("an address from the environment is reached on loopback", async () => {
  const server = await startModelServer();
  try {
    const models = createModels({ clock, openai: { apiKey: undefined, baseUrl: server.url } });
    const reply = await models.call({
      model: "m",
      messages: [{ role: "user", content: "hello" }],
      tools: [],
      maxOutputTokens: 1000,
      signal: new AbortController().signal,
    });
    expect(reply).toMatchObject({ content: "ok", provider: "openai" });
  } finally {
    await server.close();
  }
});
