import { expect, test } from "vitest";
import { executeFunction } from "@/server/work/functions/core/execute";
import { testFunctionContext } from "@/testing/function-context";

const never = testFunctionContext({ fetch: () => new Promise(() => undefined) });
const input = { url: "https://x.test/" };

test("an unknown function is named with the known ones", async () => {
  await expect(executeFunction("nope", { input: {}, context: never })).rejects.toThrow(
    'There is no function named "nope". Known functions: ',
  );
});

test("a function that hangs is abandoned after its time limit", async () => {
  await expect(executeFunction("http_request", { input, context: never, timeoutMs: 20 })).rejects.toThrow(
    "took longer than 20 ms",
  );
});

test("an aborted run ends the call with the run's reason", async () => {
  const controller = new AbortController();
  const reason = new Error("cancelled by ada");
  const call = executeFunction("http_request", { input, context: { ...never, signal: controller.signal } });
  controller.abort(reason);
  await expect(call).rejects.toBe(reason);
  await expect(
    executeFunction("http_request", { input, context: { ...never, signal: controller.signal } }),
  ).rejects.toBe(reason);
});

test("a model call ends with the time of the function that makes it", async () => {
  let heard: unknown;
  const callModel: typeof never.callModel = (_request, signal) =>
    new Promise((_resolve, reject) => {
      signal?.addEventListener("abort", () => {
        heard = signal.reason;
        reject(signal.reason);
      });
    });
  const call = executeFunction("generate_text", {
    input: { prompt: "Hi" },
    context: { ...never, callModel },
    timeoutMs: 20,
  });
  await expect(call).rejects.toThrow("took longer than 20 ms");
  expect(heard).toBeInstanceOf(Error);
});

test("no model call begins after the end of the function", async () => {
  const answers: (() => void)[] = [];
  const callModel: typeof never.callModel = async () => {
    await new Promise<void>((resolve) => answers.push(resolve));
    return {
      content: "not the JSON that the schema wants, so it is asked for again",
      reasoning: "",
      state: null,
      toolCalls: [],
      finishReason: "stop",
      usage: { inputTokens: 1, outputTokens: 1, estimated: false },
      provider: "test",
      attempts: [],
    };
  };
  const controller = new AbortController();
  const generate = (signal: AbortSignal) =>
    executeFunction("generate_text", {
      input: { prompt: "Hi", schema: { type: "object" } },
      context: { ...never, callModel, signal },
    });
  const ended = generate(controller.signal);
  await expect.poll(() => answers).toHaveLength(1);
  controller.abort(new Error("cancelled by ada"));
  await expect(ended).rejects.toThrow("cancelled by ada");
  // Another one, at the same point, makes its second call.
  void generate(new AbortController().signal).catch(() => {});
  await expect.poll(() => answers).toHaveLength(2);
  for (const answer of answers) answer();
  await expect.poll(() => answers.length).toBeGreaterThan(2);
  expect(answers).toHaveLength(3);
});

test("the issues of a value that may be of several types are those of the type it has", async () => {
  const email = { subject: "Stock", text: "Four lamps are left." };
  const many = Array.from({ length: 60 }, (_, index) => `person-${index}@example.com`);
  await expect(
    executeFunction("send_email", { input: { ...email, to: many }, context: never }),
  ).rejects.toThrow("/to Too big: expected array to have <=50 items");
  await expect(
    executeFunction("send_email", { input: { ...email, to: ["ada@example.com", "ada"] }, context: never }),
  ).rejects.toThrow("/to/1 Invalid email address");
  await expect(executeFunction("send_email", { input: { ...email, to: 5 }, context: never })).rejects.toThrow(
    "/to Invalid input",
  );
});
