import { expect, test } from "vitest";
import { executeFunction } from "@/server/functions/execute";
import { testFunctionContext } from "@/testing/function-context";

const never = testFunctionContext({ fetch: () => new Promise(() => undefined) });
const input = { url: "https://x.test/" };

test("an unknown function is named with the known ones", async () => {
  await expect(executeFunction("nope", {}, never)).rejects.toThrow(
    'There is no function named "nope". Known functions: calculate, current_time,',
  );
});

test("a function that hangs is abandoned after its time limit", async () => {
  await expect(executeFunction("http_request", input, never, 20)).rejects.toThrow("took longer than 20 ms");
});

test("an aborted run ends the call with the run's reason", async () => {
  const controller = new AbortController();
  const reason = new Error("cancelled by ada");
  const call = executeFunction("http_request", input, { ...never, signal: controller.signal });
  controller.abort(reason);
  await expect(call).rejects.toBe(reason);
  await expect(executeFunction("http_request", input, { ...never, signal: controller.signal })).rejects.toBe(
    reason,
  );
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
  const call = executeFunction("generate_text", { prompt: "Hi" }, { ...never, callModel }, 20);
  await expect(call).rejects.toThrow("took longer than 20 ms");
  expect(heard).toBeInstanceOf(Error);
});
