import type { Clock } from "@/server/base/clock";
import { codeOf } from "@/server/base/errors";
import { sleep } from "@/server/base/sleep";

const BATCH = 200;
const MAX_BATCHES = 500;
const LONGEST_PAUSE_MS = 1_000;
const STATEMENT_TIMEOUT = "57014";

/**
 * Repeats `remove` until it removes fewer rows than its limit, `shouldContinue` returns false, or after 500 batches.
 * A batch that takes too long, such as of runs with large texts, is repeated with fewer rows. After each batch, it
 * pauses for as long as the batch took, so that other work gets its share of the database. With `more`, rows may be left.
 */
export async function removeInBatches(
  remove: (limit: number) => Promise<number>,
  { clock, shouldContinue = () => true }: { clock: Clock; shouldContinue?: () => boolean },
): Promise<{ count: number; more: boolean }> {
  let count = 0;
  let size = BATCH;
  for (let batch = 0; batch < MAX_BATCHES && shouldContinue(); batch += 1) {
    const from = clock.monotonicMs();
    try {
      const removed = await remove(size);
      count += removed;
      if (removed < size) return { count, more: false };
    } catch (error) {
      if (codeOf(error) !== STATEMENT_TIMEOUT || size === 1) throw error;
      size = Math.ceil(size / 10);
    }
    await sleep(Math.min(LONGEST_PAUSE_MS, clock.monotonicMs() - from));
  }
  return { count, more: true };
}
