import { Worker } from "node:worker_threads";
import { expect, onTestFinished, test, vi } from "vitest";
import { JAVASCRIPT_SCRIPT } from "@/server/javascript/javascript-script";
import { SCRIPT_LIMITS } from "@/server/javascript/run-script";
import { createSandbox } from "@/server/sandbox/sandbox";

/** The sandbox of `run_javascript` with a shorter time limit than its own (time-limits.test.ts). */

const sandbox = createSandbox(() => [JAVASCRIPT_SCRIPT], SCRIPT_LIMITS);
const run = (code: string, timeoutMs: number) =>
  sandbox({
    request: JSON.stringify({ code, input: null, seed: "" }),
    timeoutMs,
    now: new Date(0),
    organizationId: "org-1",
  });

test.each([
  ["loops", "for (;;);"],
  ["loops in microtasks", "const f = () => Promise.resolve().then(f); return f();"],
  ["loops and catches what stops it", "for (;;) { try { for (;;); } catch {} }"],
  ["backtracks", "return /^(a+)+$/.test('a'.repeat(40) + 'b')"],
])("a script that %s is stopped at its deadline, and the next one is answered", async (_name, code) => {
  await expect(run(code, 300)).rejects.toMatchObject({ reason: "stopped" });
  expect(JSON.parse(await run("return 1", 10_000))).toMatchObject({ ok: true, value: 1 });
});

test("a thread ends after a minute without work, and the next script gets a new one", async () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  onTestFinished(() => void vi.useRealTimers());
  const end = vi.spyOn(Worker.prototype, "terminate");
  onTestFinished(() => end.mockRestore());

  await run("return 1", 10_000);
  vi.advanceTimersByTime(59_000);
  await run("return 1", 10_000);
  vi.advanceTimersByTime(59_000);
  expect(end).not.toHaveBeenCalled();

  vi.advanceTimersByTime(1_000);
  expect(end).toHaveBeenCalledOnce();
  expect(JSON.parse(await run("return 2", 10_000))).toMatchObject({ value: 2 });
});
