import { expect, test } from "vitest";
import type { Json } from "@/server/base/json/json";
import type { FunctionContext } from "@/server/work/functions/core/define";
import { executeFunction } from "@/server/work/functions/core/execute";
import type { ModelReply } from "@/server/work/models/port";
import { testFunctionContext } from "@/testing/function-context";

function scripted(...answers: string[]) {
  const requests: Parameters<FunctionContext["callModel"]>[0][] = [];
  const context = testFunctionContext({
    callModel: async (request) => {
      requests.push(request);
      const reply: ModelReply = {
        content: answers[requests.length - 1] ?? "no more answers",
        reasoning: "",
        state: null,
        toolCalls: [],
        finishReason: "stop",
        usage: { inputTokens: 1, outputTokens: 1, estimated: false },
        provider: "test",
        attempts: [],
      };
      return reply;
    },
  });
  return { requests, generate: (input: Json) => executeFunction("generate_text", { input, context }) };
}

const schema = { type: "object", properties: { mood: { enum: ["good", "bad"] } }, required: ["mood"] };

test("returns the model's text, from the run's model by default", async () => {
  const { requests, generate } = scripted("Hello.", "Hi.");
  expect(await generate({ prompt: "Greet", system: "Be brief" })).toBe("Hello.");
  expect(await generate({ prompt: "Greet", model: "other" })).toBe("Hi.");
  expect(requests.map((request) => request.model)).toEqual(["test-model", "other"]);
  expect(requests[0]?.messages).toEqual([
    { role: "system", content: "Be brief" },
    { role: "user", content: "Greet" },
  ]);
});

test("with a schema, returns a matching value, fenced or not", async () => {
  const { requests, generate } = scripted('```json\n{"mood":"good"}\n```');
  expect(await generate({ prompt: "Mood?", schema })).toEqual({ mood: "good" });
  expect(requests[0]?.responseSchema).toEqual(schema);
});

test.each(['```\n\n {"mood":"good"}\n\n```\n', ' ```json \r\n{"mood":"good"}```'])(
  "reads the fenced answer %j",
  async (answer) => {
    expect(await scripted(answer).generate({ prompt: "Mood?", schema })).toEqual({ mood: "good" });
  },
);

test("an answer of many line ends is rejected at once", async () => {
  const answer = `\`\`\`${"\n".repeat(200_000)}x`;
  const started = performance.now();
  await expect(scripted(answer, answer).generate({ prompt: "Mood?", schema })).rejects.toThrow("not JSON");
  expect(performance.now() - started).toBeLessThan(15_000);
});

test("an answer that does not match is corrected once, then it fails", async () => {
  const corrected = scripted("I feel good", '{"mood":"bad"}');
  expect(await corrected.generate({ prompt: "Mood?", schema })).toEqual({ mood: "bad" });
  expect(corrected.requests[1]?.messages.at(-1)?.content).toContain("it is not JSON");

  const hopeless = scripted('{"mood":"odd"}', '{"mood":"odd"}', '{"mood":"good"}');
  await expect(hopeless.generate({ prompt: "Mood?", schema })).rejects.toThrow(
    /does not match the schema: \/mood/,
  );
  expect(hopeless.requests).toHaveLength(2);
});

test("an invalid schema fails before the model is called", async () => {
  const { requests, generate } = scripted();
  await expect(generate({ prompt: "Mood?", schema: { type: "objekt" } })).rejects.toThrow(
    "The schema is invalid",
  );
  expect(requests).toHaveLength(0);
});

test("settings and fallback models reach both calls", async () => {
  const { requests, generate } = scripted("odd", '{"mood":"bad"}');
  const settings = {
    temperature: 0.3,
    topP: 0.9,
    reasoningEffort: "low",
    verbosity: "high",
    modelOptions: { seed: 7 },
  };
  const input = { prompt: "Mood?", schema, ...settings, maxOutputTokens: 700, fallbackModels: ["spare"] };
  expect(await generate(input)).toEqual({ mood: "bad" });
  const call = { settings, maxOutputTokens: 700, fallbackModels: ["spare"] };
  expect(requests).toMatchObject([call, call]);
});

test.each([
  [{ modelOptions: { n: 5 } }, "cannot have n: Stepwell sends it itself"],
  [{ modelOptions: { user: "x".repeat(20_000) } }, "must have at most 16 KiB as JSON"],
  [{ fallbackModels: ["a", "b", "c", "d"] }, "must have at most 3 models"],
  [{ temperature: 3 }, "temperature"],
])("the setting %j is invalid input", async (setting, message) => {
  const { requests, generate } = scripted();
  await expect(generate({ prompt: "Hi", ...setting })).rejects.toThrow(message);
  expect(requests).toEqual([]);
});
