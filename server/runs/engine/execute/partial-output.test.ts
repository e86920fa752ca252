import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { showPartialOutput } from "./partial-output";

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

it("shows output at a pace, and only the newest", async () => {
  const shown: string[] = [];
  const partial = showPartialOutput((text) => void shown.push(text));
  for (const text of ["a", "ab", "abc"]) partial.update(() => text);
  expect(shown).toEqual([]);
  await vi.advanceTimersByTimeAsync(450);
  expect(shown).toEqual(["abc"]);
  await vi.advanceTimersByTimeAsync(10_000);
  expect(shown).toEqual(["abc"]);
  partial.update(() => "abcd");
  await vi.advanceTimersByTimeAsync(450);
  expect(shown).toEqual(["abc", "abcd"]);
});

it("shows long output less often, because each time all of it is written", async () => {
  const show = vi.fn();
  const partial = showPartialOutput(show);
  for (let second = 0; second < 20; second += 1) {
    partial.update(() => "x".repeat(100_000 + second));
    await vi.advanceTimersByTimeAsync(1_000);
  }
  expect(show.mock.calls.length).toBeGreaterThan(2);
  expect(show.mock.calls.length).toBeLessThan(10);
});

it("reads only texts that it shows", async () => {
  const read = vi.fn(() => "a");
  const partial = showPartialOutput(() => undefined);
  for (let piece = 0; piece < 1_000; piece += 1) partial.update(read);
  expect(read).not.toHaveBeenCalled();
  await vi.advanceTimersByTimeAsync(450);
  expect(read).toHaveBeenCalledOnce();
});

it("shows nothing after it is closed", async () => {
  const show = vi.fn();
  const partial = showPartialOutput(show);
  partial.update(() => "a");
  partial.close();
  await vi.advanceTimersByTimeAsync(10_000);
  expect(show).not.toHaveBeenCalled();
});
