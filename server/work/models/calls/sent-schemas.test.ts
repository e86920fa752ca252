import { afterAll, beforeAll, expect, test } from "vitest";
import { createTrustedEgress } from "@/server/guard/egress/trusted-fetch";
import { inputSchemaOf, listFunctions } from "@/server/work/functions/core/registry";
import type { OfferedTool } from "@/server/work/models/port";
import { createProvider } from "@/server/work/models/provider";
import { testClock } from "@/testing/clock";
import { startChatServer } from "@/testing/servers/families/chat-server";
import { openaiChat } from "@/testing/servers/families/openai-chat";
import { modelRequest } from "@/testing/servers/model-server";

/** Schemas of tools that providers rejected, and those of all functions, at servers that are as strict. */

const egress = createTrustedEgress();
type Server = Awaited<ReturnType<typeof startChatServer>>;
let openai: Server;
beforeAll(async () => {
  openai = await startChatServer(openaiChat);
});
afterAll(async () => {
  await egress.close();
  await openai.close();
});

function call({ url }: { url: string }, tools: OfferedTool[]) {
  const clock = testClock();
  const provider = createProvider({
    name: "test",
    baseUrl: url,
    fetch: egress.fetch,
    clock,
    random: () => 1,
    sleep: async (ms) => void clock.advance(ms),
  });
  return provider.call(modelRequest("Add.", { tools }));
}
const toolWith = (properties: OfferedTool["parameters"]): OfferedTool => ({
  name: "calculate",
  description: "Calculates.",
  parameters: { type: "object", properties },
});
const FUNCTIONS = listFunctions().map((definition) => ({
  name: definition.name,
  description: definition.description,
  parameters: inputSchemaOf(definition),
}));

// modelscope/ms-agent#610, mark3labs/mcphost#35, langchain-ai/langchain#24225, AnswerDotAI/fastcore#798,
// NousResearch/hermes-agent#20976
const ARRAYS = {
  objects: { type: "array" },
  maybe: { type: ["array", "null"], description: "Perhaps." },
  either: { anyOf: [{ type: "array", minItems: 1 }, { type: "string" }] },
  range: { type: "array", prefixItems: [{ type: "integer" }, { type: "string" }] },
  old: { type: "array", items: [{ type: "integer" }, { type: "string" }] },
  deep: { type: "array", items: { type: "array" } },
};

test("OpenAI takes arrays without items", async () => {
  expect((await call(openai, [toolWith(ARRAYS)])).toolCalls).toHaveLength(2);
  const [tool] = openai.bodies.at(-1)?.tools ?? [];
  const any = { anyOf: expect.arrayContaining([{ type: "string" }]) };
  const pair = [{ type: "integer" }, { type: "string" }];
  expect(tool?.function.parameters.properties).toEqual({
    objects: { type: "array", items: any },
    maybe: { description: "Perhaps.", anyOf: [{ type: "array", items: any }, { type: "null" }] },
    either: { anyOf: [{ type: "array", minItems: 1, items: any }, { type: "string" }] },
    range: { type: "array", prefixItems: pair, items: { anyOf: pair } },
    old: { type: "array", prefixItems: pair, items: { anyOf: pair } },
    deep: { type: "array", items: { type: "array", items: any } },
  });
});

test("OpenAI takes all functions", async () => {
  await call(openai, FUNCTIONS);
  expect(openai.bodies.at(-1)?.tools).toHaveLength(FUNCTIONS.length);
});
