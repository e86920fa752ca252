import { afterEach, beforeEach, expect, test, vi } from "vitest";

beforeEach(() => {
  vi.useFakeTimers();
  vi.resetModules();
});
afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});

test("long work prints a line with the time every 5 seconds, and how long it took", async () => {
  const printed: string[] = [];
  vi.spyOn(console, "error").mockImplementation((line) => void printed.push(line));
  const { timed } = await import("./project.mjs");
  const work = timed(
    "Installing packages",
    () => new Promise((resolve) => setTimeout(resolve, 12_300, "result")),
  );
  await vi.advanceTimersByTimeAsync(12_300);
  expect(await work).toBe("result");
  expect(printed).toEqual(["Installing packages …", "  5 s", "  10 s", "  done in 12.3 s"]);
  expect(vi.getTimerCount()).toBe(0);
});

test("work that fails ends its lines", async () => {
  vi.spyOn(console, "error").mockImplementation(() => undefined);
  const { timed } = await import("./project.mjs");
  await expect(timed("Building", () => Promise.reject(new Error("no")))).rejects.toThrow("no");
  expect(vi.getTimerCount()).toBe(0);
});
