import { expect, test } from "vitest";
import { isJsonObject, readJson } from "@/server/base/json/json";
import { createTrustedEgress } from "@/server/guard/egress/trusted-fetch";
import { createProvider } from "@/server/work/models/provider";
import { modelSettings } from "@/server/work/models/settings";
import { testClock } from "@/testing/clock";
import { serveFetch } from "@/testing/servers/fetch-server";
import { modelRequest } from "@/testing/servers/model-server";

const ID = "8202522731445525542";
const MESSAGE = `{"role":"assistant","content":"","extra":{"mark":${ID}},"tool_calls":[{"index":0,"id":"c","type":"function","function":{"name":"look","arguments":{"id":${ID}}}}]}`;
const USAGE = '"usage":{"prompt_tokens":1,"completion_tokens":1,"total_tokens":2}';
const COMPLETE = `{"choices":[{"index":0,"finish_reason":"tool_calls","message":${MESSAGE}}],${USAGE}}`;
const STREAMED = `data: {"choices":[{"index":0,"finish_reason":"tool_calls","delta":${MESSAGE}}],${USAGE}}\n\ndata: [DONE]\n\n`;

test.each([
  ["streamed", "text/event-stream", STREAMED],
  ["complete", "application/json", COMPLETE],
])("%s replies and the requests after them keep their digits", async (name, type, reply) => {
  const bodies: string[] = [];
  const server = await serveFetch(async (request) => {
    bodies.push(await request.text());
    return new Response(reply, { headers: { "content-type": type } });
  });
  const egress = createTrustedEgress();
  try {
    const { call } = createProvider({
      name: "test",
      apiKey: "sk-test",
      baseUrl: `${server.origin}/v1`,
      fetch: egress.fetch,
      clock: testClock(),
      random: () => 1,
      sleep: async () => undefined,
    });
    const parameters = readJson(`{"type":"object","properties":{"id":{"type":"integer","maximum":${ID}}}}`);
    if (!isJsonObject(parameters)) throw new Error("no schema");
    const parts = {
      tools: [{ name: "look", description: "Looks.", parameters }],
      settings: modelSettings.parse(readJson(`{"modelOptions":{"seed":${ID}}}`)),
      ...(name === "streamed" && { onText: () => undefined }),
    };
    const first = await call(modelRequest("Hi", parts));
    expect(first.toolCalls).toEqual([{ id: "c", name: "look", arguments: `{"id":${ID}}` }]);
    expect(first.state).toContain(`"mark":${ID}`);
    const { content, toolCalls, state } = first;
    const answered = { role: "tool" as const, toolCallId: "c", content: `{"id":${ID}}` };
    await call(
      modelRequest("Hi", {
        ...parts,
        messages: [
          { role: "user", content: "Hi" },
          { role: "assistant", content, toolCalls, state },
          answered,
        ],
      }),
    );
    for (const body of bodies) {
      expect(body).toContain(`"seed":${ID}`);
      expect(body).toContain(`"maximum":${ID}`);
    }
    expect(bodies[1]).toContain(`"mark":${ID}`);
  } finally {
    await egress.close();
    await server.close();
  }
});
