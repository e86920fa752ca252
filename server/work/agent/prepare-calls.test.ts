import { describe, expect, test } from "vitest";
import type { AttachedCallable } from "@/server/work/agent/definition";
import { prepareCalls } from "@/server/work/agent/prepare-calls";
import { offeredTools, toolNameForModel } from "@/server/work/agent/prompts";
import { limitCalls } from "@/server/work/models/port";
import { workflowDefinition } from "@/server/work/workflow/definition";

const order: AttachedCallable = {
  kind: "tool",
  name: "place_order",
  toolId: "t-1",
  version: 3,
  title: "Place an order",
  description: "",
  definition: workflowDefinition.parse({
    parameters: { type: "object", properties: { count: { type: "integer" } }, additionalProperties: false },
    steps: [{ id: "a", uses: "current_time" }],
  }),
  deadlineSeconds: 60,
  maxCredits: null,
};
const callables: AttachedCallable[] = [{ kind: "function", name: "calculate" }, order];

async function prepare(name: string, args: string) {
  const [prepared] = await prepareCalls(callables, [{ id: "1", name, arguments: args }], "org-1");
  if (prepared === undefined) throw new Error("nothing was prepared");
  return prepared;
}

describe("prepareCalls", () => {
  test("parses and checks arguments", async () => {
    expect(await prepare("calculate", '{ "expression": "1" }')).toMatchObject({
      inputText: '{"expression":"1"}',
      input: { expression: "1" },
      callable: { kind: "function", name: "calculate" },
    });
    expect(await prepare("place_order", '{"count":2}')).toMatchObject({
      input: { count: 2 },
      callable: { toolId: "t-1" },
    });
    expect(await prepare("place_order", " ")).toMatchObject({ inputText: "{}", input: {} });
  });

  test.each<[string, string, string, RegExp]>([
    ["nope", "{}", "{}", /There is no function or tool named "nope". Available: calculate, place_order\./],
    ["constructor", "{}", "{}", /There is no function or tool/],
    ["calculate", "{broken", '"{broken"', /not valid JSON/],
    ["calculate", "[1]", "[1]", /must be a JSON object/],
    ["calculate", "null", "null", /must be a JSON object/],
    ["calculate", '{"expression":1}', '{"expression":1}', /not valid: \/expression/],
    ["place_order", '{"count":"x"}', '{"count":"x"}', /\/count must be integer/],
    ["place_order", '{"constructor":1}', '{"constructor":1}', /\/constructor is not allowed/],
    ["place_order", '{"__proto__":{"x":1}}', '{"__proto__":{"x":1}}', /\/__proto__ is not allowed/],
    ["calculate", "[".repeat(10_000), JSON.stringify("[".repeat(10_000)), /not valid JSON/],
  ])("%s(%s) fails with a message for the model", async (name, args, inputText, error) => {
    expect(await prepare(name, args)).toMatchObject({ inputText, error: expect.stringMatching(error) });
  });

  test("a list or object that came as text is decoded where the schema rejects a text", async () => {
    const parameters = {
      type: "object",
      properties: {
        tasks: { type: "array", items: { type: "string" } },
        edits: { type: "array", items: { type: "object", required: ["to"] } },
        note: { type: "string" },
        either: { type: ["string", "array"] },
      },
      required: ["tasks"],
    };
    const todo = { ...order, name: "todo", definition: { ...order.definition, parameters } };
    const prepareTodo = async (args: object) => {
      const call = { id: "1", name: "todo", arguments: JSON.stringify(args) };
      return (await prepareCalls([todo], [call], "org-1"))[0];
    };
    const texts = { note: "[some-label]", either: '["x"]' };
    const tasks = ["A", "B\u0000"];
    // earendil-works/pi#9931
    expect(
      await prepareTodo({ tasks: JSON.stringify(tasks), edits: ['{"to":12345678901234567890}'], ...texts }),
    ).toMatchObject({
      inputText: `{"tasks":["A","B\uFFFD"],"edits":[{"to":12345678901234567890}],"note":"[some-label]","either":"[\\"x\\"]"}`,
      notes: new Set(["Arguments that came as JSON within a text were decoded."]),
    });
    expect(await prepareTodo({ tasks, ...texts })).not.toHaveProperty("notes");
    for (const wrong of ["[1]", "A, B", '["A"', '"[]"', "{}"]) {
      expect(await prepareTodo({ tasks: wrong })).toMatchObject({
        inputText: JSON.stringify({ tasks: wrong }),
        error: "The arguments are not valid: /tasks must be array",
      });
    }
  });

  test("U+0000 becomes U+FFFD, escaped or not", async () => {
    const { inputText } = await prepare("calculate", '{"expression":"a\\u0000b"}');
    expect(inputText).toBe('{"expression":"a\ufffdb"}');
  });

  test("equal calls have the same identity, different ones do not", async () => {
    const identity = async (args: string) => (await prepare("place_order", args)).identity;
    expect(await identity('{"a":1,"b":[2]}')).toBe(await identity(' {"b": [2], "a": 1.0}'));
    expect(await identity('{"a":1}')).not.toBe(await identity('{"a":"1"}'));
    expect(await identity("{broken")).toBe(await identity("{broken"));
  });

  test("calls beyond the 32nd are rejected unread, and a summary call counts the rest", async () => {
    const calls = Array.from({ length: 10_000 }, (_, i) => ({
      id: `${i}`,
      name: "place_order",
      arguments: `{"count":${i}}`,
    }));
    const prepared = await prepareCalls(callables, limitCalls(calls), "org-1");
    expect(prepared).toHaveLength(129);
    expect(prepared.filter((call) => "callable" in call)).toHaveLength(32);
    expect(prepared[32]).toMatchObject({
      inputText: '{"count":32}',
      error: expect.stringMatching(
        /^This is call 33, and only the first 32 calls of one answer are executed/,
      ),
    });
    expect(prepared[128]).toMatchObject({
      inputText: '{"count":9872}',
      error: "…and 9,872 more calls were rejected: only the first 32 calls of one answer are executed.",
    });
  });
});

test("tools are offered under their slug with underscores, described by their title by default", () => {
  expect(toolNameForModel("place-order-now")).toBe("place_order_now");
  expect(offeredTools(callables)).toMatchObject([
    { name: "calculate", parameters: { type: "object", required: ["expression"] } },
    {
      name: "place_order",
      description: "Place an order",
      parameters: order.kind === "tool" ? order.definition.parameters : {},
    },
  ]);
  expect(offeredTools([{ kind: "function", name: "gone_since" }])).toEqual([]);
});

test("an unreadable call fails with what was wrong", async () => {
  const call = { id: "a", name: "unreadable_call", arguments: '{"problem":"it has no name","call":"{}"}' };
  const [prepared] = await prepareCalls([], [call], "org-1");
  expect(prepared).toMatchObject({
    error: expect.stringContaining("Could not read the call: it has no name"),
  });
});
