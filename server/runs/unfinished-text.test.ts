import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { keepUnfinishedText } from "./unfinished-text";

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

it("writes at a pace, and only what is the newest then", async () => {
  const written: string[] = [];
  const text = keepUnfinishedText(async (now) => void written.push(now));
  for (const part of ["a", "ab", "abc"]) text.note(part);
  expect(written).toEqual([]);
  await vi.advanceTimersByTimeAsync(450);
  expect(written).toEqual(["abc"]);
  await vi.advanceTimersByTimeAsync(10_000);
  expect(written).toEqual(["abc"]);
  text.note("abcd");
  await vi.advanceTimersByTimeAsync(450);
  expect(written).toEqual(["abc", "abcd"]);
});

it("writes a long text seldom: each time all of it is written", async () => {
  const write = vi.fn(async () => {});
  const text = keepUnfinishedText(write);
  for (let second = 0; second < 20; second += 1) {
    text.note("x".repeat(100_000 + second));
    await vi.advanceTimersByTimeAsync(1_000);
  }
  expect(write.mock.calls.length).toBeLessThan(10);
});

it("never writes two at once, outlives a write that fails, and writes nothing once it is closed", async () => {
  const ends: ((error?: Error) => void)[] = [];
  const write = vi.fn(
    () => new Promise<void>((resolve, reject) => ends.push((error) => (error ? reject(error) : resolve()))),
  );
  const text = keepUnfinishedText(write);
  text.note("a");
  await vi.advanceTimersByTimeAsync(1_000);
  text.note("ab");
  await vi.advanceTimersByTimeAsync(1_000);
  expect(write.mock.calls).toEqual([["a"]]);
  ends[0]?.(new Error("the database is away"));
  await vi.advanceTimersByTimeAsync(1_000);
  expect(write.mock.calls).toEqual([["a"], ["ab"]]);
  text.note("abc");
  const closed = vi.fn();
  void text.close().then(closed);
  await vi.advanceTimersByTimeAsync(1_000);
  expect(closed).not.toHaveBeenCalled();
  ends[1]?.();
  await vi.advanceTimersByTimeAsync(1_000);
  expect(closed).toHaveBeenCalled();
  expect(write).toHaveBeenCalledTimes(2);
});
