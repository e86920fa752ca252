import { expect, test } from "vitest";
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
