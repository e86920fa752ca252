import { describe, expect, it } from "vitest";
import type { Json, JsonObject } from "@/server/base/json/json";
import { executeRun } from "@/testing/execute";
import { insertTool } from "@/testing/tools";
import { createTenant, createTrigger, openWorld, scriptedModels, setAgent } from "@/testing/world";
import { handleRest } from "./rest";
import { handleWebhook } from "./webhook";

const ID = "8202522731445525542";
const PRICE = "0.12345678901234567891";
const TINY = "1.5e-400";
const BODY = `{"id":${ID},"list":[{"price":${PRICE},"tiny":${TINY}}],"plain":12.5}`;

const asked: string[] = [];
const world = await openWorld({
  models: scriptedModels(({ messages }) => {
    asked.push(...messages.map(({ content }) => content));
    if (messages.some(({ role }) => role === "tool")) return { content: `{"id":${ID}}` };
    const call = { id: "c", name: "set_value", arguments: `{"key":"k","value":{"id":${ID}}}` };
    return { content: "", toolCalls: [call] };
  }),
});
const tenant = await createTenant(world, { agent: { functions: ["set_value"] } });

async function post(path: string, body: string, headers: Record<string, string> = {}) {
  const handler = path.startsWith("/v1") ? handleRest : handleWebhook;
  const request = new Request(`http://stepwell.test${path}`, {
    method: "POST",
    headers: { "Content-Type": "application/json", "X-API-Key": tenant.key, ...headers },
    body,
  });
  const response = await handler(world, request);
  return { status: response.status, text: await response.text() };
}

let tools = 0;
async function runTool(steps: JsonObject[], output: Json) {
  tools += 1;
  const toolId = await insertTool(world, tenant, { slug: `tool-${tools}`, definition: { steps, output } });
  const started = await post(`/v1/tools/run/${toolId}`, BODY);
  const { id } = JSON.parse(started.text);
  await executeRun(world, id);
  const run = await world.db.run.findUniqueOrThrow({ where: { id }, include: { steps: true } });
  const request = new Request(`http://stepwell.test/v1/tools/run/${id}/result`, {
    headers: { "X-API-Key": tenant.key },
  });
  const result = JSON.parse(await (await handleRest(world, request)).text());
  return { run, steps: run.steps.sort((a, b) => a.stepNumber - b.stepNumber), result };
}

describe("a tool that is started by REST", () => {
  const set = { id: "set", uses: "set_value", with: { key: "k", value: "{{ input }}" } };

  it("returns the digits of its input, which plain references pass on", async () => {
    const output = {
      all: "{{ input }}",
      id: "{{ input.id }}",
      text: "no. {{ input.id }}",
      price: "{{ input.list.price }}",
    };
    const { result } = await runTool([set], output);
    expect(result.inputData).toBe(BODY);
    expect(result.outputData).toBe(`{"all":${BODY},"id":${ID},"text":"no. ${ID}","price":${PRICE}}`);
    expect(JSON.parse(result.outputSchema).properties.id).toEqual({ type: "integer" });
  });

  it("stores and reads them", async () => {
    const get = { id: "get", uses: "get_value", with: { key: "k" } };
    const { result, steps } = await runTool([set, get], "{{ steps.get.value }}");
    expect(steps[0]?.input).toBe(`{"key":"k","value":${BODY}}`);
    expect(result.outputData).toBe(BODY);
  });

  it("gives them to tools that it runs", async () => {
    await insertTool(world, tenant, { slug: "inner", definition: { steps: [set], output: "{{ input }}" } });
    const call = { id: "call", uses: "run_tool", with: { tool: "inner", input: "{{ input }}" } };
    const { result } = await runTool([call], "{{ steps.call }}");
    expect(result.outputData).toBe(BODY);
  });

  it("gives them to scripts and expressions as texts, and says so", async () => {
    const script = {
      id: "script",
      uses: "run_javascript",
      with: { code: "return [input.id, input.plain + 1]", input: "{{ input }}" },
    };
    const expression = {
      id: "expression",
      uses: "transform_json",
      with: { value: "{{ input }}", expression: "$string(id)" },
    };
    const inStep = {
      id: "in_step",
      uses: "set_value",
      with: { key: "k", value: "{{ [input.id, input.plain + 1] }}" },
    };
    const { result, steps } = await runTool([script, expression, inStep, set], {
      script: "{{ steps.script }}",
      expression: "{{ steps.expression }}",
    });
    expect(result.outputData).toBe(`{"script":["${ID}",13.5],"expression":"${ID}"}`);
    expect(steps[2]?.input).toBe(`{"key":"k","value":["${ID}",13.5]}`);
    const notes = steps.map(({ attempts }) => JSON.parse(attempts)[0].notes);
    const note = [expect.stringContaining("got them as texts")];
    expect(notes).toEqual([note, note, note, undefined]);
  });

  it("checks them against its parameters exactly", async () => {
    const parameters = {
      type: "object",
      properties: { id: { type: "integer", maximum: 8202522731445526000 } },
    };
    const toolId = await insertTool(world, tenant, {
      slug: "strict",
      definition: { parameters, steps: [set] },
    });
    const start = async (id: string) => (await post(`/v1/tools/run/${toolId}`, `{"id":${id}}`)).status;
    expect(await start(ID)).toBe(200);
    expect(await start("8202522731445526001")).toBe(400);
    expect(await start("8202522731445525542.5")).toBe(400);
  });

  it("tells requests apart that differ in them only", async () => {
    const toolId = await insertTool(world, tenant, { slug: "again", definition: { steps: [set] } });
    const start = (id: string) =>
      post(`/v1/tools/run/${toolId}`, `{"id":${id}}`, { "Idempotency-Key": "once" });
    const first = await start(ID);
    expect((await start(ID)).text).toBe(first.text);
    expect((await start("8202522731445525543")).status).toBe(409);
  });

  it("rejects numbers that are infinite as doubles", async () => {
    expect((await post(`/v1/tools/run/${tenant.toolId}`, `{"a":1e400,"b":${ID}}`)).status).toBe(400);
  });
});

describe("an agent that is started by a webhook", () => {
  it("gets, passes on and answers with the digits", async () => {
    const outputSchema = { type: "object", properties: { id: { type: "integer" } }, required: ["id"] };
    await setAgent(world, tenant, { outputSchema });
    const { token } = await createTrigger(world, tenant, {
      messageTemplate: "Order {{ body.id }} in {{ body }}",
    });
    const { runId } = JSON.parse((await post(`/webhooks/${token}`, BODY)).text);
    await executeRun(world, runId);
    const run = await world.db.run.findUniqueOrThrow({ where: { id: runId }, include: { steps: true } });
    expect(run).toMatchObject({
      status: "Completed",
      input: `Order ${ID} in ${BODY}`,
      output: `{"id":${ID}}`,
    });
    expect(run.steps[0]?.input).toBe(`{"key":"k","value":{"id":${ID}}}`);
    expect(asked.some((content) => content.includes(`Order ${ID} in ${BODY}`))).toBe(true);
  });

  it("starts a tool with them", async () => {
    const { token } = await createTrigger(world, tenant, { target: "tool" });
    const { text } = await post(`/webhooks/${token}`, `{"a":1,"b":2,"id":${ID}}`);
    const run = await world.db.run.findUniqueOrThrow({ where: { id: JSON.parse(text).runId } });
    expect(run.input).toBe(`{"a":1,"b":2,"id":${ID}}`);
  });
});
