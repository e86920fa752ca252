import { expect, it } from "vitest";
import { saveTool } from "@/server/catalog/save-tool";
import { startRun } from "@/server/runs/start";
import type { ModelReply, ModelRequest } from "@/server/work/models/port";
import { executeRun } from "@/testing/execute";
import { createMember } from "@/testing/runs";
import { createTenant, openWorld, scriptedModels, setAgent, type Tenant } from "@/testing/world";
import { inspectModelRequest, type ModelRequestView } from "./model-request";

let sent: Parameters<typeof asSent>[0][] = [];
let answers: Partial<ModelReply>[] = [];

const world = await openWorld({
  models: scriptedModels(({ messages, tools, responseSchema }) => {
    const answer = answers[sent.length] ?? { content: "Done." };
    sent.push(structuredClone({ messages, tools, ...(responseSchema && { responseSchema }) }));
    return answer;
  }),
});

const asks = (...calls: [name: string, args: unknown][]): Partial<ModelReply> => ({
  content: "I look it up.",
  toolCalls: calls.map(([name, args], index) => ({
    id: `call-${index}`,
    name,
    arguments: typeof args === "string" ? args : JSON.stringify(args),
  })),
});

async function execute(
  tenant: Tenant,
  what: Parameters<typeof startRun>[2],
  play: Partial<ModelReply>[],
): Promise<{ runId: string; views: ModelRequestView[] }> {
  sent = [];
  answers = play;
  const actor = { kind: "operator", orgId: tenant.orgId, name: "test" } as const;
  const { runId } = await startRun(world, actor, what);
  await executeRun(world, runId);
  const member = await createMember(world, tenant, "viewer");
  const calls = await world.db.modelCall.findMany({ where: { runId }, orderBy: { id: "asc" } });
  const views = await Promise.all(
    calls.map(({ id }) => inspectModelRequest(world, member, { runId, callId: id })),
  );
  return { runId, views };
}

function asSent({
  messages,
  tools,
  responseSchema,
}: Pick<ModelRequest, "messages" | "tools" | "responseSchema">) {
  return {
    messages: messages.map((message) => ({
      role: message.role,
      content: message.content,
      calls: message.role === "assistant" ? message.toolCalls.map((call) => [call.name, call.arguments]) : [],
    })),
    tools: tools.map((tool) => [tool.name, tool.description, JSON.stringify(tool.parameters)]),
    schema: responseSchema === undefined ? null : JSON.stringify(responseSchema),
  };
}

function shown({ messages, tools, responseSchema }: ModelRequestView): ReturnType<typeof asSent> {
  return {
    messages: messages.map(({ role, content, toolCalls }) => ({
      role,
      content: content.text,
      calls: toolCalls.map((call) => [call.name, call.arguments.text]),
    })),
    tools: tools.map((tool) => [tool.name, tool.description, tool.parameters]),
    schema: responseSchema,
  };
}

it("shows every request of an agent run as it was sent, the closing one included", async () => {
  const tenant = await createTenant(world);
  const userMessage = "What do six and seven make?";
  const { views } = await execute(tenant, { kind: "agent", targetId: tenant.agentId, userMessage }, [
    asks(["calculate", { expression: "6*7" }], ["adder", { a: 1, b: 2 }], ["nobody", {}]),
    asks(["calculate", "{broken"]),
    ...Array.from({ length: 6 }, (_, n) => asks(["calculate", { expression: `${n}+1` }])),
  ]);
  expect(sent).toHaveLength(9);
  expect(views.map(shown)).toEqual(sent.map(asSent));

  const second = views[1];
  expect(second?.messages.map(({ role, fresh, step }) => [role, fresh, step?.number ?? null])).toEqual([
    ["system", false, null],
    ["user", false, null],
    ["assistant", true, null],
    ["tool", true, 1],
    ["tool", true, 2],
    ["tool", true, 3],
  ]);
  expect(views.at(-1)?.tools).toEqual([]);
  expect(views[0]?.messages.every(({ fresh }) => fresh)).toBe(true);
});

it("shows the requests of an agent with an output schema, its corrections included", async () => {
  const tenant = await createTenant(world, { agent: { maxSteps: 2 } });
  const outputSchema = { type: "object", required: ["n"] };
  await setAgent(world, tenant, { outputSchema });
  const { views } = await execute(
    tenant,
    { kind: "agent", targetId: tenant.agentId, userMessage: "A number?" },
    [{ content: "One." }, { content: "{}" }, { content: '{"n":1}' }],
  );
  expect(sent).toHaveLength(3);
  expect(views.map(shown)).toEqual(sent.map(asSent));
  expect(views.map(({ responseSchema }) => responseSchema)).toEqual(
    Array.from({ length: 3 }, () => JSON.stringify(outputSchema)),
  );
});

it("shows the requests of a tool's own model call, the correction included", async () => {
  const tenant = await createTenant(world);
  const operator = { kind: "operator", orgId: tenant.orgId, name: "test" } as const;
  const { id } = await saveTool(world, operator, {
    definition: {
      slug: "writer",
      name: "Writer",
      steps: [
        {
          id: "text",
          uses: "generate_text",
          with: { system: "Be brief.", prompt: "A number.", model: "m", schema: { type: "number" } },
        },
      ],
      output: "{{ steps.text }}",
    },
  });
  const { views } = await execute(tenant, { kind: "tool", targetId: id, input: {} }, [
    { content: "seven" },
    { content: "7" },
  ]);
  expect(sent).toHaveLength(2);
  expect(views.map(shown)).toEqual(sent.map(asSent));
  expect(views[1]?.messages.map(({ fresh }) => fresh)).toEqual([false, false, true, true]);
});

it("cuts long results, and gives their length", async () => {
  const tenant = await createTenant(world);
  const long = "x".repeat(40_000);
  const { runId, views } = await execute(
    tenant,
    { kind: "agent", targetId: tenant.agentId, userMessage: long },
    [asks(["calculate", { expression: "1+1" }])],
  );
  expect(views[0]?.messages[1]?.content).toMatchObject({ bytes: 40_000, cut: true });
  await world.db.step.updateMany({ where: { runId }, data: { output: JSON.stringify(long) } });
  const member = await createMember(world, tenant, "viewer");
  const call = await world.db.modelCall.findFirstOrThrow({ where: { runId, key: "think-2" } });
  const again = await inspectModelRequest(world, member, { runId, callId: call.id });
  expect(again.messages[3]?.content).toMatchObject({ bytes: 40_002, cut: true });
});
