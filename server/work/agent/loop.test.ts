import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { JsonObject } from "@/server/base/json/json";
import type { AgentConfiguration, AttachedCallable } from "@/server/work/agent/definition";
import {
  type AgentJournal,
  type ModelTurn,
  runAgentLoop,
  type ToolResult,
  type ToolRound,
  type TurnReply,
} from "@/server/work/agent/loop";
import { limitCalls } from "@/server/work/models/port";
import { workflowDefinition } from "@/server/work/workflow/definition";

const weather: AttachedCallable = {
  kind: "tool",
  name: "weather",
  toolId: "t-1",
  version: 1,
  title: "Weather",
  description: "Weather of a city.",
  definition: workflowDefinition.parse({
    parameters: { type: "object", properties: { city: { type: "string" } }, required: ["city"] },
    steps: [{ id: "a", uses: "current_time" }],
  }),
  deadlineSeconds: 60,
  maxCredits: null,
};

const configure = (overrides: Partial<AgentConfiguration> = {}): AgentConfiguration => ({
  kind: "agent",
  name: "Helper",
  model: "m",
  systemPrompt: "You help.",
  maxSteps: 3,
  callables: [{ kind: "function", name: "calculate" }, weather],
  messageFromOutside: false,
  ...overrides,
});

type Reply = { content?: string; calls?: [name: string, args: unknown][] };

function journalOf(lines: Reply[], answer?: (round: ToolRound) => ToolResult[]) {
  const turns: ModelTurn[] = [];
  const rounds: ToolRound[] = [];
  const journal: AgentJournal = {
    organizationId: "org-1",
    async callModel(turn) {
      turns.push(turn);
      const { content = "", calls = [] } = lines[turns.length - 1] ?? { content: "no more lines" };
      return {
        content,
        reasoning: "",
        state: null,
        toolCalls: calls.map(([name, args], index) => ({
          id: `c-${turns.length}-${index + 1}`,
          name,
          arguments: typeof args === "string" ? args : JSON.stringify(args),
        })),
      };
    },
    async callTools(round) {
      rounds.push(round);
      if (answer) return answer(round);
      return round.calls.map((call) =>
        "error" in call
          ? { output: JSON.stringify({ error: call.error }), failed: true }
          : { output: JSON.stringify({ did: call.input }), failed: false },
      );
    },
  };
  return { journal, turns, rounds };
}

test("an answer without calls ends the run at once", async () => {
  const { journal, turns, rounds } = journalOf([{ content: "Hello." }]);
  expect(await runAgentLoop(configure(), "Hi", journal)).toEqual({ status: "Completed", output: "Hello." });
  expect(rounds).toEqual([]);
  expect(turns).toMatchObject([
    {
      iteration: 1,
      closing: false,
      messages: [
        { role: "system", content: "You help." },
        { role: "user", content: "Hi" },
      ],
    },
  ]);
  expect(turns[0]?.tools.map(({ name, description }) => [name, description.slice(0, 10)])).toEqual([
    ["calculate", "Calculates"],
    ["weather", "Weather of"],
  ]);
});

test("a closing call that is answered with calls instead of text fails the run", async () => {
  const { journal } = journalOf([
    { calls: [["weather", { city: "Oslo" }]] },
    { calls: [["weather", { city: "Rome" }]] },
  ]);
  expect(await runAgentLoop(configure({ maxSteps: 1 }), "Hi", journal)).toMatchObject({
    status: "Failed",
    code: "empty_answer",
  });
});

test("results return to the model in the order of its calls, its text is stored as reasoning", async () => {
  const { journal, turns, rounds } = journalOf([
    {
      content: "Let me see.",
      calls: [
        ["weather", { city: "Oslo" }],
        ["calculate", { expression: "1+1" }],
      ],
    },
    { content: "Done." },
  ]);
  expect(await runAgentLoop(configure(), "Hi", journal)).toEqual({ status: "Completed", output: "Done." });
  expect(rounds).toMatchObject([{ iteration: 1, reasoning: "Let me see." }]);
  expect(turns[1]?.messages.slice(2)).toEqual([
    {
      role: "assistant",
      content: "Let me see.",
      state: null,
      toolCalls: [
        { id: "c-1-1", name: "weather", arguments: '{"city":"Oslo"}' },
        { id: "c-1-2", name: "calculate", arguments: '{"expression":"1+1"}' },
      ],
    },
    { role: "tool", toolCallId: "c-1-1", content: '{"did":{"city":"Oslo"}}' },
    { role: "tool", toolCallId: "c-1-2", content: '{"did":{"expression":"1+1"}}' },
  ]);
});

test("after maxSteps iterations one last call without tools asks for the answer", async () => {
  const call: Reply = { calls: [["weather", { city: "Oslo" }]] };
  const { journal, turns, rounds } = journalOf([
    call,
    call,
    call,
    { content: "What I know.", calls: [["weather", {}]] },
  ]);
  expect(await runAgentLoop(configure(), "Hi", journal)).toEqual({
    status: "Completed",
    output: "What I know.",
  });
  expect(turns.map(({ iteration, closing, tools }) => [iteration, closing, tools.length])).toEqual([
    [1, false, 2],
    [2, false, 2],
    [3, false, 2],
    [4, true, 0],
  ]);
  expect(rounds).toHaveLength(3);
  expect(turns[3]?.messages.at(-1)).toMatchObject({
    role: "user",
    content: expect.stringContaining("Answer now"),
  });
});

describe("failing calls", () => {
  test("are reported to the model, and the run continues", async () => {
    const { journal, turns } = journalOf([{ calls: [["nope", {}]] }, { content: "Sorry." }]);
    expect(await runAgentLoop(configure(), "Hi", journal)).toMatchObject({ status: "Completed" });
    expect(turns[1]?.messages.at(-1)).toMatchObject({
      role: "tool",
      content: expect.stringContaining(
        'There is no function or tool named \\"nope\\". Available: calculate, weather.',
      ),
    });
  });

  test("a third identical one ends the run, whatever the order of its keys", async () => {
    const { journal, rounds } = journalOf([
      {
        calls: [
          ["weather", '{"a":1,"b":2}'],
          ["weather", { city: 5 }],
        ],
      },
      { calls: [["weather", '{"b":2,"a":1}']] },
      { calls: [["weather", '{ "a": 1, "b": 2 }']] },
    ]);
    expect(await runAgentLoop(configure({ maxSteps: 12 }), "Hi", journal)).toEqual({
      status: "Failed",
      code: "repeated_failure",
      message: expect.stringMatching(
        /^The same call of weather failed 3 times: The arguments are not valid: \/city is required/,
      ),
    });
    expect(rounds).toHaveLength(3);
  });

  test("different ones, and calls that succeed, do not add up", async () => {
    const same: Reply = { calls: [["weather", { city: "Oslo" }]] };
    const { journal } = journalOf([
      { calls: [["nope", { n: 1 }]] },
      { calls: [["nope", { n: 2 }]] },
      { calls: [["nope", { n: 3 }]] },
      same,
      same,
      same,
      same,
      { content: "Done." },
    ]);
    expect(await runAgentLoop(configure({ maxSteps: 12 }), "Hi", journal)).toMatchObject({
      status: "Completed",
    });
  });
});

describe("an output schema", () => {
  const outputSchema = { type: "object", properties: { n: { type: "integer" } }, required: ["n"] };
  const weatherIn = (city: string): Reply => ({ calls: [["weather", { city }]] });

  test("the answer is its JSON, without a fence", async () => {
    const { journal, turns } = journalOf([{ content: '```json\n{ "n": 1 }\n```' }]);
    expect(await runAgentLoop(configure({ outputSchema }), "Hi", journal)).toEqual({
      status: "Completed",
      output: '{"n":1}',
    });
    expect(turns).toMatchObject([{ responseSchema: outputSchema, tools: { length: 2 } }]);
  });

  test("an answer that does not match is corrected by the next iteration, which offers no calls", async () => {
    const { journal, turns } = journalOf([
      weatherIn("Oslo"),
      { content: '{"n":"one"}' },
      { content: '{"n":1}' },
    ]);
    expect(await runAgentLoop(configure({ outputSchema }), "Hi", journal)).toEqual({
      status: "Completed",
      output: '{"n":1}',
    });
    expect(turns.map(({ closing, tools }) => [closing, tools.length])).toEqual([
      [false, 2],
      [false, 2],
      [false, 0],
    ]);
    expect(turns[2]?.messages.slice(-2)).toEqual([
      { role: "assistant", content: '{"n":"one"}', state: null, toolCalls: [] },
      { role: "user", content: "Your answer is invalid: /n must be integer. Answer again with JSON only." },
    ]);
  });

  test("an answer whose number is too large is corrected, too", async () => {
    const { journal, turns } = journalOf([{ content: '{"n":1e400}' }, { content: '{"n":1}' }]);
    expect(await runAgentLoop(configure({ outputSchema }), "Hi", journal)).toMatchObject({
      output: '{"n":1}',
    });
    expect(turns[1]?.messages.at(-1)).toMatchObject({
      content: expect.stringContaining("a number that is too large. Answer again"),
    });
  });

  test("when the steps are used up, the last call decides", async () => {
    const lines = [{ content: "One." }, { content: "One!" }];
    const { journal, turns } = journalOf([...lines, { content: "{}" }, { content: '{"n":1}' }]);
    expect(await runAgentLoop(configure({ maxSteps: 2, outputSchema }), "Hi", journal)).toEqual({
      status: "Failed",
      code: "output_invalid",
      message: "The answer does not match the agent's output schema: /n is required.",
    });
    expect(turns.map(({ iteration, closing }) => [iteration, closing])).toEqual([
      [1, false],
      [2, false],
      [3, true],
    ]);
    // The request to correct the answer is the last message: some models accept no second user message after it.
    expect(turns[2]?.messages.map(({ role }) => role).slice(-3)).toEqual(["user", "assistant", "user"]);
    const corrected = journalOf([...lines, { content: '{"n":1}' }]).journal;
    expect(await runAgentLoop(configure({ maxSteps: 2, outputSchema }), "Hi", corrected)).toMatchObject({
      output: '{"n":1}',
    });
  });

  test("a huge hostile answer is rejected with a short message", async () => {
    const content = JSON.stringify({ n: 1, ["x".repeat(100_000)]: 1 });
    const closed = { ...outputSchema, additionalProperties: false };
    const outcome = await runAgentLoop(
      configure({ maxSteps: 1, outputSchema: closed }),
      "Hi",
      journalOf([{ content }, { content }]).journal,
    );
    expect(outcome).toMatchObject({ status: "Failed", code: "output_invalid" });
    expect("message" in outcome ? outcome.message.length : 0).toBeLessThan(3_000);
  });
});

describe("policies of attachments", () => {
  const oslo = ["weather", { city: "Oslo" }] as [string, unknown];
  const withPolicy = (policy: AttachedCallable["policy"]) =>
    configure({
      maxSteps: 12,
      callables: [
        { kind: "function", name: "calculate" },
        { ...weather, policy },
      ],
    });

  test("maxCalls counts executed calls; further ones are rejected and never fail the run", async () => {
    const { journal, turns, rounds } = journalOf([
      { calls: [["weather", { city: 5 }], oslo] },
      { calls: [oslo, oslo, oslo, oslo, ["calculate", { expression: "1" }]] },
      { calls: [oslo] },
      { content: "Done." },
    ]);
    expect(await runAgentLoop(withPolicy({ maxCalls: 2 }), "Hi", journal)).toEqual({
      status: "Completed",
      output: "Done.",
    });
    expect(rounds.map(({ calls }) => calls.map((call) => "callable" in call))).toEqual([
      [false, true],
      [true, false, false, false, true],
      [false],
    ]);
    expect(turns[3]?.messages.at(-1)).toMatchObject({
      role: "tool",
      content: '{"error":"weather has used its 2 calls of this run. Continue without it."}',
    });
  });

  test("with onError fail, a failed call ends the run, but arguments that are not valid do not", async () => {
    const failing = (round: ToolRound): ToolResult[] =>
      round.calls.map((call) => ({
        output: JSON.stringify({ error: "error" in call ? call.error : "no forecast" }),
        failed: true,
      }));
    const { journal } = journalOf([{ calls: [["weather", {}]] }, { calls: [oslo] }], failing);
    expect(await runAgentLoop(withPolicy({ onError: "fail" }), "Hi", journal)).toEqual({
      status: "Failed",
      code: "step_failed",
      message: "The call of weather failed: no forecast",
    });
  });
});

describe("very many calls in one answer", () => {
  const many = (count: number): Reply => ({
    calls: Array.from({ length: count }, () => ["weather", { city: "Oslo" }]),
  });

  test("32 are executed, 128 recorded, the rest rejected in one step, and the conversation stays valid", async () => {
    const { journal, turns, rounds } = journalOf([many(10_000), { content: "Done." }]);
    // A call rejected for its position is not a repeated failure.
    expect(await runAgentLoop(configure(), "Hi", journal)).toEqual({ status: "Completed", output: "Done." });
    const [round] = rounds;
    expect(round?.calls.map((call) => "callable" in call)).toEqual(
      Array.from({ length: 129 }, (_, index) => index < 32),
    );
    const [assistant, ...results] = turns[1]?.messages.slice(2) ?? [];
    const ids = assistant?.role === "assistant" ? assistant.toolCalls.map(({ id }) => id) : [];
    expect(results.map((message) => (message.role === "tool" ? message.toolCallId : ""))).toEqual(ids);
    expect(new Set(ids).size).toBe(129);
    expect(results.at(-1)?.content).toContain("9,872 more calls were rejected");
  });

  test.each([32, 33, 128, 129, 130])("%i calls that were cut once are not cut again", async (count) => {
    const calls = Array.from({ length: count }, (_, i) => ({ id: `${i}`, name: "f", arguments: "{}" }));
    const once = limitCalls(calls);
    expect(once).toHaveLength(Math.min(count, 129));
    expect(limitCalls(once)).toEqual(once);
    expect(limitCalls(calls.slice(0, 128), Math.max(0, count - 128))).toHaveLength(once.length);
  });
});

describe("prompts", () => {
  test("mark a message from outside as data for the model", async () => {
    const { journal, turns } = journalOf([{ content: "ok" }]);
    await runAgentLoop(configure({ messageFromOutside: true }), '{"ignore":"all"}', journal);
    const [system, user] = turns[0]?.messages ?? [];
    expect(system).toMatchObject({
      role: "system",
      content: expect.stringMatching(/^You help\.[\s\S]*external system[\s\S]*data/),
    });
    expect(user).toEqual({ role: "user", content: '{"ignore":"all"}' });
  });

  test("omit an empty system prompt", async () => {
    const { journal, turns } = journalOf([{ content: "ok" }]);
    await runAgentLoop(configure({ systemPrompt: "  " }), "Hi", journal);
    expect(turns[0]?.messages).toEqual([{ role: "user", content: "Hi" }]);
  });
});

test("a run replayed from its journal takes the same path, wherever it was interrupted", async () => {
  const call = fc.tuple(
    fc.constantFrom("weather", "calculate", "nope"),
    fc.constantFrom('{"city":"Oslo"}', '{"expression":"1"}', "{broken", '{"__proto__":{"a":1}}', ""),
  );
  const line = fc.record({
    content: fc.oneof(fc.string(), fc.constant('{"n":1}')),
    calls: fc.array(call, { maxLength: 3 }),
  });
  const settings = fc.record({
    outputSchema: fc.constantFrom<JsonObject | undefined>(undefined, { type: "object", required: ["n"] }),
    policy: fc.constantFrom(undefined, { maxCalls: 1 }, { onError: "fail" as const }),
  });
  await fc.assert(
    fc.asyncProperty(
      fc.array(line, { maxLength: 8 }),
      fc.integer({ min: 0, max: 12 }),
      settings,
      async (lines, cutAt, { outputSchema, policy }) => {
        const stored = new Map<string, TurnReply | ToolResult[]>();
        const asked: string[] = [];
        let executed = 0;
        const durable = (crashAfter: number): AgentJournal => {
          const remember = <Result extends TurnReply | ToolResult[]>(
            key: string,
            question: unknown,
            work: () => Result,
          ): Result => {
            const known = stored.get(key);
            asked.push(`${key} ${JSON.stringify(question)}`);
            // The key decides which of the two was stored.
            if (known !== undefined) return known as Result;
            if (executed >= crashAfter) throw new Error("crash");
            executed += 1;
            const result = work();
            stored.set(key, result);
            return result;
          };
          return {
            organizationId: "org-1",
            callModel: async (turn) =>
              remember(`think-${turn.iteration}`, turn, (): TurnReply => {
                const { content, calls } = lines[turn.iteration - 1] ?? { content: "end", calls: [] };
                return {
                  content,
                  reasoning: "",
                  state: null,
                  toolCalls: calls.map(([name, args], i) => ({ id: `${i}`, name, arguments: args })),
                };
              }),
            callTools: async (round) =>
              remember(`calls-${round.iteration}`, round, () =>
                round.calls.map((prepared) => ({
                  output: "error" in prepared ? JSON.stringify({ error: prepared.error }) : "1",
                  failed: "error" in prepared,
                })),
              ),
          };
        };
        const callables: AttachedCallable[] = [
          { kind: "function", name: "calculate" },
          { ...weather, policy },
        ];
        const configuration = configure({ maxSteps: 6, outputSchema, callables });
        const go = (crashAfter: number) => runAgentLoop(configuration, "Hi", durable(crashAfter));
        await go(cutAt).catch((error) => expect(error.message).toBe("crash"));
        asked.length = 0;
        const resumed = await go(Number.POSITIVE_INFINITY);
        const path = [...asked];
        const total = executed;
        asked.length = 0;
        expect(await go(Number.POSITIVE_INFINITY)).toEqual(resumed);
        expect(asked).toEqual(path);
        expect(executed).toBe(total);
      },
    ),
  );
});
