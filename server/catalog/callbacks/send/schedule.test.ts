import { expect, it } from "vitest";
import { DISABLED_AFTER_MS, pauseAfter } from "./schedule";

function pauses(random: () => number): number[] {
  const found: number[] = [];
  for (let failures = 1; ; failures += 1) {
    const pause = pauseAfter(failures, { random });
    if (pause === null) return found;
    found.push(pause);
  }
}

it("attempts go on for three days, whatever the jitter, and each pause is longer than the one before", () => {
  for (const random of [() => 0, () => 0.999]) {
    const all = pauses(random);
    const sum = all.reduce((total, pause) => total + pause, 0);
    // The last attempt finds the endpoint failing for long enough to be disabled.
    expect(sum).toBeGreaterThanOrEqual(DISABLED_AFTER_MS);
    expect(sum).toBeLessThan(DISABLED_AFTER_MS * 1.15);
    expect(all).toEqual([...all].sort((a, b) => a - b));
  }
  expect(pauses(() => 0).slice(0, 3)).toEqual([5_000, 30_000, 300_000]);
  expect(pauseAfter(1, { random: () => 0.5 })).toBe(5_250);
});
