import { describe, expect, test } from "vitest";
import type { Json } from "@/server/base/json/json";
import { FunctionError } from "@/server/work/functions/core/define";
import { executeFunction } from "@/server/work/functions/core/execute";
import { testFunctionContext } from "@/testing/function-context";

const run = (code: string, input: Json = null, organizationId = "org-1") =>
  executeFunction("run_javascript", {
    input: { code, input },
    context: testFunctionContext({ organizationId }),
  });

test("returns what the body returns, as JSON", async () => {
  expect(await run("return input.items.map((item) => item * 2)", { items: [1, 2] })).toEqual([2, 4]);
  expect(await run("const later = await Promise.resolve(3); return { later };")).toEqual({ later: 3 });
  expect(await run("1 + 1")).toBeNull();
  expect(await run("return () => 1")).toBeNull();
  expect(await run("return { at: new Date(0), skipped: undefined, list: [undefined] }")).toEqual({
    at: "1970-01-01T00:00:00.000Z",
    list: [null],
  });
});

test("prints to the console of the step, within bounds", async () => {
  const printed: string[] = [];
  const context = testFunctionContext({ print: (lines) => void printed.push(...lines) });
  const code =
    "console.log('a', { b: 1 }); for (let i = 0; i < 200; i += 1) console.warn('x'.repeat(600)); return 1;";
  expect(await executeFunction("run_javascript", { input: { code }, context })).toBe(1);
  expect(printed).toHaveLength(101);
  expect(printed[0]).toBe('a {"b":1}');
  expect(printed[1]).toHaveLength(500);
  expect(printed[100]).toBe("…");
  printed.length = 0;
  const failing = executeFunction("run_javascript", {
    input: { code: "console.log('before'); throw 1" },
    context,
  });
  await expect(failing).rejects.toThrow("Thrown: 1");
  expect(printed).toEqual(["before"]);
});

test("scripts of a cancelled run that wait for a thread take none", { timeout: 15_000 }, async () => {
  const cancelled = new AbortController();
  const context = testFunctionContext({ signal: cancelled.signal });
  // Each would hold a thread until its limit.
  const loops = Array.from({ length: 40 }, () =>
    executeFunction("run_javascript", { input: { code: "for (;;);" }, context }).catch(() => undefined),
  );
  cancelled.abort(new Error("cancelled"));
  await Promise.all(loops);
  expect(await run("return 1", null, context.organizationId)).toBe(1);
});

test("its clock stands still, and chance repeats with the step", async () => {
  const code =
    "const at = Date.now(); for (let i = 0; i < 1e5; i += 1); return [at, Date.now(), Math.random()];";
  const [at, later, chance] = (await run(code)) as Json[];
  expect(at).toBe(Date.parse("2026-03-04T05:06:07.000Z"));
  expect(later).toBe(at);
  expect(await run(code)).toEqual([at, at, chance]);
});

describe("has nothing of the outside", () => {
  test.each([
    "fetch",
    "XMLHttpRequest",
    "WebSocket",
    "require",
    "process",
    "Deno",
    "Bun",
    "setTimeout",
    "setInterval",
    "WebAssembly",
    "Worker",
    "SharedArrayBuffer",
    "std",
    "os",
    "scriptArgs",
    "load",
    "print",
  ])("no %s", async (name) => {
    if (name === "SharedArrayBuffer") return;
    expect(await run(`return typeof globalThis[${JSON.stringify(name)}]`)).toBe("undefined");
  });

  test.each([
    ["a file", "return await import('node:fs')"],
    ["an address", "return await import('https://example.com/x.js')"],
    ["a data address", "return await import('data:text/javascript,1')"],
  ])("does not import %s", async (_name, code) => {
    await expect(run(code)).rejects.toMatchObject({ code: "script_failed" });
  });
});

describe("nothing is left of one script for the next", () => {
  test.each([
    ["a global", "globalThis.kept = 1; return 1", "return typeof kept", "undefined"],
    ["a prototype", "Array.prototype.map = () => 'mine'; return 1", "return [1].map((x) => x)", [1]],
    ["JSON", "JSON.stringify = () => 'x'; JSON.parse = null; return 1", "return 2", 2],
    ["the handler", "globalThis.$handle = null; return 1", "return 3", 3],
    ["the console", "console.log = null; return 1", "console.log(1); return 4", 4],
  ])("%s", async (_name, first, second, expected) => {
    await run(first);
    expect(await run(second)).toEqual(expected);
  });
});

describe("is stopped", () => {
  test.each([
    ["that never returns", "return new Promise(() => {})", "script_limit", "never happens"],
    [
      "that eats memory",
      "const all = []; for (;;) all.push(new Array(1e5).fill(1));",
      "script_limit",
      "64 MiB",
    ],
    ["that eats memory with texts", "let s = 'x'; for (;;) s += s;", "script_", ""],
    ["that nests its calls", "const f = () => f() + 1; return f();", "script_failed", ""],
    ["that returns too much", "return 'x'.repeat(3e6)", "script_limit", "larger than 2 MiB"],
    ["that returns a ring", "const a = {}; a.a = a; return a;", "script_failed", "circular"],
    ["that cannot be parsed", "return (", "script_failed", "SyntaxError"],
    ["that breaks out of its function", "} globalThis.x = 1; {", "script_failed", "SyntaxError"],
  ])("a script %s", { timeout: 40_000 }, async (_name, code, failure, message) => {
    const error = await run(code).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(FunctionError);
    expect(error).toMatchObject({
      code: expect.stringContaining(failure),
      message: expect.stringContaining(message),
    });
    expect(await run("return 1")).toBe(1);
  });

  test("whatever answer it forges", async () => {
    const forged =
      "globalThis.$answer = JSON.stringify({ ok: true, value: 'forged', console: ['x'.repeat(1e5)] });";
    const forge = `Promise.prototype.then = function () { ${forged} return this; }; ${forged} return 1;`;
    expect([1, "forged"]).toContainEqual(await run(forge).catch(() => "forged"));
    expect(await run("return 1")).toBe(1);
  });
});

test("a hundred scripts that eat memory keep no other organization waiting", async () => {
  await run("return 1", null, "quiet");
  let ended = 0;
  const code = "const all = []; for (;;) all.push(new Uint8Array(1e7).fill(1));";
  const cancel = new AbortController();
  const context = testFunctionContext({ organizationId: "greedy", signal: cancel.signal });
  const eaters = Array.from({ length: 100 }, () =>
    executeFunction("run_javascript", { input: { code }, context })
      .catch(() => undefined)
      .finally(() => {
        ended += 1;
      }),
  );
  for (let i = 0; i < 5; i += 1) expect(await run("return input + 1", i, "quiet")).toBe(i + 1);
  // One organization has all threads but one, so that these five did not wait for the hundred.
  expect(ended).toBeLessThan(50);
  // The others do not begin.
  cancel.abort(new Error("cancelled"));
  await Promise.all(eaters);
});
