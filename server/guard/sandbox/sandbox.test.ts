import { Worker } from "node:worker_threads";
import { expect, onTestFinished, test, vi } from "vitest";
import { MIB } from "@/server/contract/sizes";
import { createSandbox } from "@/server/guard/sandbox/sandbox";

const SCRIPT = `
const AsyncFunction = (async () => {}).constructor;
$start({
  work: async ({ code }) => new AsyncFunction(code)(),
  success: (value) => JSON.stringify({ ok: true, value }),
  failure: (error) => JSON.stringify({ ok: false, message: String(error) }),
});
`;
const sandbox = createSandbox({
  subject: "script",
  scripts: () => [SCRIPT],
  memoryMib: 64,
  answerLength: 2 * MIB,
});

async function run(code: string, timeoutMs: number): Promise<unknown> {
  const request = JSON.stringify({ code, seed: "" });
  const answer = await sandbox({ request, timeoutMs, now: new Date(0), organizationId: "org-1" });
  return "text" in answer ? JSON.parse(answer.text) : answer;
}

test.each([
  ["loops", "for (;;);"],
  ["loops in microtasks", "const f = () => Promise.resolve().then(f); return f();"],
  ["loops and catches what stops it", "for (;;) { try { for (;;); } catch {} }"],
  ["backtracks", "return /^(a+)+$/.test('a'.repeat(40) + 'b')"],
])("a script that %s is stopped at its deadline, and the next one is answered", async (_name, code) => {
  expect(await run(code, 300)).toEqual({ issue: "The script was stopped after 300 ms." });
  expect(await run("return 1", 10_000)).toMatchObject({ ok: true, value: 1 });
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
  expect(await run("return 2", 10_000)).toMatchObject({ value: 2 });
});
