import { describe, expect, test } from "vitest";
import type { JsonObject } from "@/server/base/json/json";
import type { AgentConfiguration } from "@/server/work/agent/definition";
import { runAgentLoop } from "@/server/work/agent/loop";
import { executeFunction } from "@/server/work/functions/core/execute";
import { findFunction, inputSchemaOf } from "@/server/work/functions/core/registry";
import { validateAgainst } from "@/server/work/json-schema/schema";
import { requestCorrection } from "@/server/work/models/json-answer";
import type { ModelMessage, ModelRequest, OfferedTool } from "@/server/work/models/port";
import { testClock } from "@/testing/clock";
import { testFunctionContext } from "@/testing/function-context";
import { callDemoModel } from "./demo";

const clock = testClock();

function offered(name: string): OfferedTool {
  const definition = findFunction(name);
  if (definition === undefined) throw new Error(`no function ${name}`);
  return { name, description: definition.description, parameters: inputSchemaOf(definition) };
}

const weather: OfferedTool = {
  name: "weather",
  description: "Current weather of a city.",
  parameters: {
    type: "object",
    properties: { city: { type: "string" } },
    required: ["city"],
    additionalProperties: false,
  },
};

const quote: OfferedTool = {
  name: "quote",
  description: "Prices an order of one item, with a discount of 10 % from ten pieces on.",
  parameters: {
    type: "object",
    properties: {
      item: { type: "string", minLength: 1 },
      quantity: { type: "integer", minimum: 1, maximum: 10000 },
      unitPrice: { type: "number", minimum: 0 },
    },
    required: ["item", "quantity", "unitPrice"],
    additionalProperties: false,
  },
};

const request = (
  content: string,
  tools: OfferedTool[],
  overrides: Partial<ModelRequest> = {},
): ModelRequest => ({
  model: "demo",
  messages: [{ role: "user", content }],
  tools,
  maxOutputTokens: 1000,
  signal: new AbortController().signal,
  ...overrides,
});

async function firstCall(content: string, tools: OfferedTool[]) {
  const [call] = (await callDemoModel(request(content, tools), clock)).toolCalls;
  return call && [call.name, JSON.parse(call.arguments)];
}

describe("calls matching tools", () => {
  const tools = [offered("calculate"), offered("current_time"), offered("http_request"), weather];

  test.each<[string, unknown]>([
    ["What is 17 * 23?", ["calculate", { expression: "17 * 23" }]],
    ["What is 17 times 23 plus 4?", ["calculate", { expression: "17 * 23 + 4" }]],
    ["What do 12 apples at 0.80 cost?", ["calculate", { expression: "12 * 0.80" }]],
    ["Please add (2 + 3) * 4 and tell me", ["calculate", { expression: "(2 + 3) * 4" }]],
    ["What time is it in Berlin?", ["current_time", { timezone: "Europe/Berlin" }]],
    ["Which date is today?", ["current_time", {}]],
    ["How is the weather in New York?", ["weather", { city: "New York" }]],
    ['The weather of "Ulan Bator" please', ["weather", { city: "Ulan Bator" }]],
    ["Fetch https://example.com/a?b=1 for me", ["http_request", { url: "https://example.com/a?b=1" }]],
    ["Hello!", undefined],
  ])("%s", async (content, expected) => {
    expect(await firstCall(content, tools)).toEqual(expected);
  });

  test("a date is not arithmetic, and only offered tools are called", async () => {
    expect(await firstCall("The order of 2026-03-04 is late", [offered("calculate")])).toBeUndefined();
    expect(await firstCall("What is 17 * 23?", [])).toBeUndefined();
  });
});

describe("fills a tool's fields from the message", () => {
  test.each<[string, JsonObject]>([
    ["What do 12 apples at 0.80 cost?", { item: "apples", quantity: 12, unitPrice: 0.8 }],
    ["How much are 3 red pears for 1.20 each?", { item: "red pears", quantity: 3, unitPrice: 1.2 }],
    ["At 0.5 each, quote 7 pens please", { item: "pens", quantity: 7, unitPrice: 0.5 }],
    [
      'Price 4 of the "left-handed hammer" at $12',
      { item: "left-handed hammer", quantity: 4, unitPrice: 12 },
    ],
    ['{"question": "What do 12 apples at 0.80 cost?"}', { item: "apples", quantity: 12, unitPrice: 0.8 }],
    ["Price apples", { item: "apples", quantity: 1, unitPrice: 1 }],
  ])("%s", async (content, expected) => {
    expect(await firstCall(content, [offered("calculate"), offered("current_time"), quote])).toEqual([
      "quote",
      expected,
    ]);
  });
});

const stock: OfferedTool = {
  name: "check_stock",
  description: "Tells whether an item is in stock.",
  parameters: { type: "object", properties: { sku: { type: "string" } }, required: ["sku"] },
};
const order: OfferedTool = {
  name: "track_order",
  description: "Tells where an order is.",
  parameters: { type: "object", properties: { orderId: { type: "string" } }, required: ["orderId"] },
};

describe("keeps identifiers whole", () => {
  test.each<[string, OfferedTool, string]>([
    ["Is A-1 in stock?", stock, "A-1"],
    ["is sku-b12/7 still in stock in Berlin?", stock, "sku-b12/7"],
    ["Do we have 3 of SKU123 in stock?", stock, "SKU123"],
    ['Is "Chair B-2, blue" in stock?', stock, "Chair B-2, blue"],
    ["Where is order #48213?", order, "48213"],
    ["Where is order 48213, please", order, "48213"],
    ["Track my order INV-2024-0007.", order, "INV-2024-0007"],
    ["Where is order 7f3c9e-22?", order, "7f3c9e-22"],
  ])("%s", async (content, tool, expected) => {
    const [field = ""] = Object.keys(tool.parameters.properties ?? {});
    expect(await firstCall(content, [offered("calculate"), tool])).toEqual([
      tool.name,
      { [field]: expected },
    ]);
  });

  test("and keeps their digits out of number fields, unless an identifier is a number", async () => {
    const properties = { sku: { type: "string" }, quantity: { type: "integer" } };
    const parameters = { type: "object", properties, required: ["sku", "quantity"] };
    expect(await firstCall("Is A-17 in stock, 5 pieces?", [{ ...stock, parameters }])).toEqual([
      "check_stock",
      { sku: "A-17", quantity: 5 },
    ]);
    const byNumber = { type: "object", properties: { order: { type: "integer" } }, required: ["order"] };
    expect(await firstCall("Where is order #48213?", [{ ...order, parameters: byNumber }])).toEqual([
      "track_order",
      { order: 48213 },
    ]);
  });
});

async function converse(content: string, tools: OfferedTool[], results: Record<string, unknown>) {
  const calls: [string, unknown][] = [];
  const messages: ModelRequest["messages"] = [{ role: "user", content }];
  for (;;) {
    const { content: said, toolCalls } = await callDemoModel(request("", tools, { messages }), clock);
    if (toolCalls.length === 0) return { calls, answer: said };
    messages.push({ role: "assistant", content: said, toolCalls });
    for (const call of toolCalls) {
      calls.push([call.name, JSON.parse(call.arguments)]);
      messages.push({ role: "tool", toolCallId: call.id, content: JSON.stringify(results[call.name]) });
    }
  }
}

test("makes every requested call with its own numbers, and answers from the results", async () => {
  const { calls, answer } = await converse(
    "What do 12 apples at 0.80 and 3 pears at 1.20 cost, what is 15% of 80, and what time is it in Berlin?",
    [offered("calculate"), offered("current_time"), quote],
    {
      quote: { item: "apples", total: 8.64, text: "12 × apples: 8.64" },
      calculate: 12,
      current_time: {
        weekday: "Saturday",
        date: "2026-11-21",
        time: "08:05:00",
        timezone: "Europe/Berlin",
      },
    },
  );
  expect(calls).toEqual([
    ["quote", { item: "apples", quantity: 12, unitPrice: 0.8 }],
    ["quote", { item: "pears", quantity: 3, unitPrice: 1.2 }],
    ["calculate", { expression: "15 / 100 * 80" }],
    ["current_time", { timezone: "Europe/Berlin" }],
  ]);
  expect(answer).toMatch(/^This answer is simulated [^.]*OPENAI_API_KEY[^.]*OPENAI_BASE_URL[^.]*\.\n/);
  expect(answer).toContain("- quote: 12 × apples: 8.64 (item apples, total 8.64)");
  expect(answer).toContain("- 15 / 100 * 80 = 12");
  expect(answer).toContain("- It is Saturday, 2026-11-21, 08:05:00 (Europe/Berlin).");
});

test("reports a failed call", async () => {
  const { answer } = await converse("Price 2 cups at 3", [quote], { quote: { error: "no such item" } });
  expect(answer).toContain("quote failed: no such item");
});

test.each<[string, JsonObject]>([
  [
    "enums, numbers and lists",
    {
      type: "object",
      properties: {
        kind: { enum: ["small", "large"] },
        count: { type: "integer", minimum: 3, maximum: 5 },
        tags: { type: "array", items: { type: "string", maxLength: 5 }, minItems: 2 },
        when: { type: "string", format: "date" },
        deep: { type: "object", properties: { x: { type: "boolean" } }, required: ["x"] },
      },
      required: ["kind", "count", "tags", "when", "deep"],
    },
  ],
  [
    "alternatives and defaults",
    {
      type: "object",
      properties: {
        a: { anyOf: [{ type: "number" }, { type: "null" }] },
        b: { default: { c: 1 } },
        d: { const: "e" },
      },
    },
  ],
])("creates arguments that match the schema: %s", async (_name, parameters) => {
  const call = await firstCall("An order of 12 large boxes", [
    { name: "order", description: "Orders boxes", parameters },
  ]);
  expect(call?.[0]).toBe("order");
  expect(await validateAgainst(parameters, call?.[1], "org-1")).toEqual([]);
});

test("completes an agent run with tools, notes that it is a simulation, and is deterministic", async () => {
  const configuration: AgentConfiguration = {
    kind: "agent",
    name: "Helper",
    model: "demo",
    systemPrompt: "You help.",
    maxSteps: 8,
    callables: [
      { kind: "function", name: "calculate" },
      { kind: "function", name: "current_time" },
    ],
    messageFromOutside: false,
  };
  const run = async () => {
    const steps: string[] = [];
    const outcome = await runAgentLoop(configuration, "What is 17 * 23, and what time is it in Tokyo?", {
      organizationId: "org-1",
      callModel: ({ messages, tools }) => callDemoModel(request("", tools, { messages }), clock),
      callTools: ({ calls }) =>
        Promise.all(
          calls.map(async (prepared) => {
            if ("error" in prepared) throw new Error(prepared.error);
            steps.push(prepared.call.name);
            const output = await executeFunction(prepared.call.name, {
              input: prepared.input,
              context: testFunctionContext(),
            });
            return { output: JSON.stringify(output), failed: false };
          }),
        ),
    });
    return { steps, outcome };
  };
  const { steps, outcome } = await run();
  expect(steps).toEqual(["calculate", "current_time"]);
  expect(outcome).toMatchObject({
    status: "Completed",
    output: expect.stringMatching(/simulated[\s\S]*17 \* 23 = 391[\s\S]*Asia\/Tokyo/),
  });
  expect(await run()).toEqual({ steps, outcome });
});

test("answers with JSON for a schema, within its token limit", async () => {
  const responseSchema: JsonObject = {
    type: "object",
    properties: { mood: { enum: ["good"] } },
    required: ["mood"],
  };
  const reply = await callDemoModel(request("Mood?", [], { responseSchema }), clock);
  expect(JSON.parse(reply.content)).toEqual({ mood: "good" });
  const short = await callDemoModel(request("x ".repeat(500), [], { maxOutputTokens: 10 }), clock);
  expect(short.content.length).toBeLessThanOrEqual(30);
  expect(short.usage).toMatchObject({ estimated: true });
  expect(short.usage.outputTokens).toBeLessThanOrEqual(10);
});

test("fills a schema with the results of its calls, and reports when it cannot fill one", async () => {
  const responseSchema: JsonObject = {
    type: "object",
    properties: { total: { type: "number" }, currency: { type: "string" }, paid: { type: "boolean" } },
    required: ["total", "currency", "paid"],
  };
  const asked = request("The total of 3 lamps?", [], { responseSchema });
  const toolCalls = [{ id: "c", name: "price", arguments: "{}" }];
  const messages: ModelMessage[] = [
    ...asked.messages,
    { role: "assistant", content: "", toolCalls },
    { role: "tool", toolCallId: "c", content: '{"total":126.5,"currency":"EUR","paid":"no"}' },
  ];
  const reply = await callDemoModel({ ...asked, messages }, clock);
  expect(JSON.parse(reply.content)).toEqual({ total: 126.5, currency: "EUR", paid: true });

  const again = [...messages, ...requestCorrection(reply, "/total must be below 100")];
  await expect(callDemoModel({ ...asked, messages: again }, clock)).rejects.toThrow(
    /demo model fills only simple schemas/,
  );
});

test("hostile messages are read quickly", async () => {
  const started = performance.now();
  const parameters: JsonObject = { type: "object", properties: { e: { type: "string", format: "email" } } };
  for (const unit of [
    "(",
    "1+",
    "@",
    "a@",
    "in A ",
    '"',
    "http://",
    "A/",
    " ",
    "1 a ",
    '{"a":"',
    "1 % ",
    "9",
    "a ",
    "a1-",
    `a${"9".repeat(50)}@`,
    `${"a1".repeat(20)}-`,
    "a-1/",
    "# ",
    "order ",
    "order a",
    "a/",
  ]) {
    await callDemoModel(
      request(unit.repeat(Math.ceil(400_000 / unit.length)), [
        offered("calculate"),
        offered("current_time"),
        { ...weather, parameters },
      ]),
      clock,
    );
  }
  expect(performance.now() - started).toBeLessThan(40_000);
});
