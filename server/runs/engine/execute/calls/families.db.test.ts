import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { saveAgent } from "@/server/catalog/save-agent";
import { inspectRun } from "@/server/runs/read/inspect/inspect";
import { inspectCall } from "@/server/runs/read/inspect/inspect-line";
import { startRun } from "@/server/runs/start";
import { createModels } from "@/server/work/models/registry";
import { testClock } from "@/testing/clock";
import { executeRun } from "@/testing/execute";
import { expectSoundLedger } from "@/testing/ledger";
import { createMember } from "@/testing/runs";
import { type ChatServerFamily, startChatServer } from "@/testing/servers/families/chat-server";
import { createGroq } from "@/testing/servers/families/groq";
import { createLitellm } from "@/testing/servers/families/litellm";
import { llamaCppPython, llamaServer } from "@/testing/servers/families/llama-cpp";
import { mistral } from "@/testing/servers/families/mistral";
import { ollama } from "@/testing/servers/families/ollama";
import { openaiChat } from "@/testing/servers/families/openai-chat";
import { createQwen } from "@/testing/servers/families/qwen";
import { createVllm } from "@/testing/servers/families/vllm";
import { xai } from "@/testing/servers/families/xai";
import { createTenant, openWorld, type Tenant } from "@/testing/world";

type Definition = Omit<Parameters<typeof saveAgent>[2]["definition"], "slug" | "name">;
type Case = {
  family: (streams: boolean) => ChatServerFamily;
  settings: Partial<Definition>;
  changes: string[];
  usage: object;
  hidesReasoning?: true;
};
const OLD_LIMIT = "max_tokens was sent instead of max_completion_tokens";
const leftOut = (...names: string[]) => names.map((name) => `${name} was left out`);
const cases: Case[] = [
  {
    family: () => mistral,
    settings: { reasoningEffort: "medium", verbosity: "low", temperature: 0.2 },
    changes: [...leftOut("reasoning_effort", "verbosity"), OLD_LIMIT],
    usage: { cachedInputTokens: 60, outputTokens: 50 },
  },
  {
    family: () => xai,
    settings: { reasoningEffort: "high", modelOptions: { presence_penalty: 0.5 } },
    changes: leftOut("presence_penalty", "reasoning_effort"),
    usage: { cachedInputTokens: 60, outputTokens: 80, reasoningTokens: 30 },
  },
  {
    family: createGroq,
    settings: { reasoningEffort: "minimal", verbosity: "low", temperature: 0.2 },
    changes: leftOut("reasoning_effort", "verbosity"),
    usage: { cachedInputTokens: 60, outputTokens: 50, reasoningTokens: 30 },
  },
  {
    family: () => ollama,
    settings: { reasoningEffort: "minimal" },
    changes: [...leftOut("reasoning_effort"), OLD_LIMIT],
    usage: { outputTokens: 50 },
  },
  ...(["reasoning", "reasoning_content"] as const).map((field) => ({
    family: () => createVllm(field),
    settings: { modelOptions: { min_p: 2 } },
    changes: leftOut("min_p"),
    usage: { cachedInputTokens: 60, outputTokens: 50 },
  })),
  {
    family: createLitellm,
    settings: { verbosity: "low", modelOptions: { seed: 1 } },
    changes: leftOut("seed", "verbosity"),
    usage: { cachedInputTokens: 60, cacheWriteTokens: 10, outputTokens: 50, reasoningTokens: 30 },
  },
  {
    family: () => llamaServer,
    settings: { modelOptions: { top_logprobs: 3 } },
    changes: leftOut("top_logprobs"),
    usage: { cachedInputTokens: 60, outputTokens: 50 },
  },
  {
    family: () => llamaCppPython,
    settings: { modelOptions: { top_logprobs: -1 } },
    changes: [...leftOut("top_logprobs"), OLD_LIMIT],
    usage: { outputTokens: 50 },
  },
  {
    family: createQwen,
    settings: { modelOptions: { enable_thinking: true, preserve_thinking: true, thinking_budget: 99_999 } },
    changes: leftOut("thinking_budget"),
    usage: { cachedInputTokens: 60, outputTokens: 50, reasoningTokens: 30 },
  },
  {
    family: () => openaiChat,
    settings: { reasoningEffort: "high", temperature: 0.2 },
    changes: [
      ...leftOut("temperature"),
      "reasoning_effort: none was sent, because the model offers functions with reasoning only over responses",
    ],
    usage: { cachedInputTokens: 60, outputTokens: 50, reasoningTokens: 30 },
    hidesReasoning: true,
  },
];
const servers = await Promise.all(
  cases.flatMap(({ family: create, ...expected }) =>
    [true, false].map(async (streams) => {
      const family = create(streams);
      const server = await startChatServer(family, { streams });
      return { model: `${family.name}-${streams ? "streamed" : "whole"}`, streams, server, ...expected };
    }),
  ),
);
afterAll(() => Promise.all(servers.map(({ server }) => server.close())));
const clock = testClock();
const world = await openWorld({
  models: createModels({
    providers: servers.map(({ model, server }) => ({ name: model, baseUrl: server.url, models: [model] })),
    clock,
    sleep: async (ms) => clock.advance(ms),
  }),
});

const outputSchema = {
  type: "object",
  properties: {
    sum: { type: "integer", multipleOf: 1 },
    note: { type: "string", pattern: "^\\d+$", maxLength: 9 },
  },
  required: ["sum"],
};

async function execute(tenant: Tenant, definition: Definition) {
  const actor = { kind: "operator", orgId: tenant.orgId, name: "test" } as const;
  await saveAgent(world, actor, {
    definition: { slug: "helper", name: "Helper", systemPrompt: "Add.", outputSchema, ...definition },
  });
  const start = { kind: "agent", targetId: tenant.agentId, userMessage: "What is 1 + 1?" } as const;
  const { runId } = await startRun(world, actor, start);
  await executeRun(world, runId);
  const viewer = await createMember(world, tenant, "viewer");
  await expectSoundLedger(world, tenant);
  const { run, calls } = await inspectRun(world, viewer, { runId });
  const { errorMessage, output, status } = run;
  return {
    ended: { status, errorMessage, output: JSON.parse(output?.text || "null") },
    calls: await Promise.all(calls.map(({ id }) => inspectCall(world, viewer, { runId, callId: id }))),
  };
}
const COMPLETED = { status: "Completed", errorMessage: null, output: { sum: 2 } };

describe.each(servers)("$model", ({ model, streams, server, ...expected }) => {
  let tenant: Tenant;
  beforeAll(async () => {
    tenant = await createTenant(world, { credits: "1000000" });
  });
  const definition = { model, functions: ["calculate"], ...expected.settings };
  const reasoning = (turn: number) => (expected.hidesReasoning ? "" : `I have to add. Step ${turn} 🌍`);

  it("calls functions and gives an answer of the schema; what it rejects is learned", async () => {
    expect((await execute(tenant, definition)).ended).toEqual(COMPLETED);
    expect(server.rejected).not.toEqual([]);
    server.rejected.length = 0;
    const { ended, calls } = await execute(tenant, definition);
    expect(ended).toEqual(COMPLETED);
    expect(server.rejected).toEqual([]);
    expect(calls).toMatchObject(
      [0, 1].map((turn) => ({
        status: "Completed",
        inputTokens: 100,
        cachedInputTokens: 0,
        cacheWriteTokens: 0,
        reasoningTokens: 0,
        ...expected.usage,
        estimated: false,
        reasoning: { text: reasoning(turn) },
        attempts: [{ error: null, changes: expect.arrayContaining(expected.changes) }],
      })),
    );
    if (streams && model !== "llama-cpp-python-streamed") expect(server.bodies.at(-1)?.stream).toBe(true);
    expect(server.bodies.at(-1)?.temperature).toBe(
      "temperature" in expected.settings && !expected.changes.includes("temperature was left out")
        ? 0.2
        : undefined,
    );
  });

  it("answers with the schema alone, without functions", async () => {
    const { ended } = await execute(tenant, { ...definition, functions: [] });
    expect(ended).toEqual(COMPLETED);
    server.rejected.length = 0;
    const { calls } = await execute(tenant, { ...definition, functions: [] });
    expect(calls).toMatchObject([{ reasoning: { text: reasoning(0) }, attempts: [{ error: null }] }]);
    // A simpler schema is enough for its grammar.
    if (model.startsWith("vllm")) expect(server.bodies.at(-1)).toHaveProperty("response_format");
  });

  it("answers when all steps are used", async () => {
    const last = { ...definition, maxSteps: 1 };
    expect((await execute(tenant, last)).ended).toEqual(COMPLETED);
    server.rejected.length = 0;
    expect((await execute(tenant, last)).ended).toEqual(COMPLETED);
    expect(server.rejected).toEqual([]);
  });
});

it.each(servers.filter(({ model }) => model.startsWith("qwen")))(
  "Qwen goes on thinking, gets its reasoning back, and no schema beside its thinking: $model",
  ({ server }) => {
    for (const { enable_thinking, preserve_thinking, response_format } of server.bodies)
      expect({ enable_thinking, preserve_thinking, response_format }).toEqual({
        enable_thinking: true,
        preserve_thinking: true,
        response_format: undefined,
      });
    const backs = server.bodies.flatMap(({ messages }) =>
      messages.filter(({ role }) => role === "assistant"),
    );
    expect(backs).not.toEqual([]);
    for (const back of backs) expect(back).toHaveProperty("reasoning_content", "I have to add. Step 0 🌍");
  },
);

it.each(servers.filter(({ model }) => model.startsWith("mistral")))(
  "Mistral's list of parts comes back as it was: $model",
  ({ server }) => {
    const closed = server.bodies.filter(({ messages }) => messages.some(({ role }) => role === "tool"));
    const [body] = closed;
    expect(body?.messages.find(({ role }) => role === "assistant")?.content).toEqual([
      {
        type: "thinking",
        thinking: [{ type: "text", text: "I have to add. Step 0 🌍" }],
        closed: true,
      },
    ]);
  },
);
