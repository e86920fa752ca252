import { createServer } from "node:http";
import { expect, test } from "vitest";
import { apiOf } from "@/server/base/models/model-api";
import { createModels } from "@/server/work/models/registry";
import { testClock } from "@/testing/clock";
import { closeServer, listen } from "@/testing/servers/listen";
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

test("the default provider's models are listed, and read again after some minutes", async () => {
  const requests: string[] = [];
  let body: string | null = JSON.stringify({ data: [{ id: "local-model", context_length: 4_096 }] });
  const server = createServer((request, response) => {
    requests.push(`${request.method} ${request.url} ${request.headers.authorization}`);
    response.writeHead(body === null ? 500 : 200, { "content-type": "application/json" });
    response.end(body ?? '{"error":{"message":"Out of order"}}');
  });
  const port = await listen(server);
  try {
    const time = testClock();
    const baseUrl = `http://127.0.0.1:${port}/v1`;
    const models = createModels({ clock: time, openai: { apiKey: "k", baseUrl } });
    const offer = { models: [{ name: "local-model", contextWindow: 4_096 }], problem: null };
    expect(await Promise.all([models.listOffered(), models.listOffered()])).toEqual([offer, offer]);
    expect(requests).toEqual(["GET /v1/models Bearer k"]);
    body = null;
    expect(await models.listOffered()).toEqual(offer);
    time.advance(5 * 60_000);
    expect(await models.listOffered()).toEqual({
      models: [],
      problem: 'The model provider "openai" answered 500 Out of order',
    });
    body = "[]";
    time.advance(15_000);
    expect(await models.listOffered()).toEqual({ models: [], problem: null });
    expect(requests).toHaveLength(3);
  } finally {
    await closeServer(server);
  }
});

test("without a provider the demo model is listed", async () => {
  expect(await createModels({ clock }).listOffered()).toMatchObject({ models: [{ name: "demo" }] });
});
