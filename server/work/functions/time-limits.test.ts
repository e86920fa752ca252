import { Worker } from "node:worker_threads";
import { expect, onTestFinished, test, vi } from "vitest";
import type { Json } from "@/server/base/json/json";
import { executeFunction } from "@/server/work/functions/core/execute";
import { testFunctionContext } from "@/testing/function-context";

const NEXT: Record<string, Json> = {
  run_javascript: { code: "return 1" },
  transform_json: { value: 1, expression: "$ + 1" },
  extract_text: { html: "<p>a</p>" },
};

test.concurrent.each<[string, string, Json, string, string]>([
  ["a script that loops", "run_javascript", { code: "for (;;);" }, "script_limit", "stopped after 10000 ms"],
  [
    "a runaway expression",
    "transform_json",
    { value: {}, expression: "($f := function(){ $f() }; $f())" },
    "invalid_expression",
    "stopped after 10000 ms",
  ],
  [
    "a nest of elements",
    "extract_text",
    { html: "<div>".repeat(300_000) },
    "invalid_html",
    "Could not parse",
  ],
  [
    "a nest of texts",
    "extract_text",
    { html: "<div><p>hello</p>".repeat(150_000) },
    "invalid_html",
    "Could not parse",
  ],
])(
  "%s is stopped, and the next call is answered",
  { timeout: 60_000 },
  async (organizationId, name, ...rest) => {
    const [endless, code, message] = rest;
    const call = (input: Json) =>
      executeFunction(name, { input, context: testFunctionContext({ organizationId }) });
    const started = performance.now();
    await expect(call(endless)).rejects.toMatchObject({ code, message: expect.stringContaining(message) });
    expect(performance.now() - started).toBeLessThan(30_000);
    await expect(call(NEXT[name] ?? null)).resolves.toBeDefined();
  },
);

test.each<[string, (mark: string) => Json]>([
  ["parse_csv", (mark) => ({ text: `a\n${mark}` })],
  ["extract_text", (mark) => ({ html: mark })],
  ["transform_json", (mark) => ({ value: mark, expression: "$ & $" })],
])("a call of %s whose run ends while it waits for a thread is not sent", async (name, inputOf) => {
  const post = vi.spyOn(Worker.prototype, "postMessage");
  onTestFinished(() => post.mockRestore());
  const run = new AbortController();
  const call = (mark: string, signal = new AbortController().signal) =>
    executeFunction(name, { input: inputOf(mark), context: testFunctionContext({ signal }) });
  // There are four threads.
  const before = Array.from({ length: 4 }, () => call("before"));
  const ended = call("ended", run.signal);
  const after = call("after");
  run.abort(new Error("cancelled"));
  await expect(ended).rejects.toThrow("cancelled");
  await Promise.all([...before, after]);
  const sent = JSON.stringify(post.mock.calls);
  expect(sent).toContain("after");
  expect(sent).not.toContain("ended");
});
