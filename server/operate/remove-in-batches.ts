import { codeOf } from "@/server/base/errors";

const BATCH = 200;
const MAX_BATCHES = 500;
const STATEMENT_TIMEOUT = "57014";

/**
 * Repeats `remove` until it removes fewer rows than its limit, `shouldContinue` returns false, or after 500 batches.
 * A batch that takes too long, such as of runs with large texts, is repeated with fewer rows. With `more`, rows may be
 * left.
 */
export async function removeInBatches(
  remove: (limit: number) => Promise<number>,
  shouldContinue: () => boolean = () => true,
): Promise<{ count: number; more: boolean }> {
  let count = 0;
  let size = BATCH;
  for (let batch = 0; batch < MAX_BATCHES && shouldContinue(); batch += 1) {
    try {
      const removed = await remove(size);
      count += removed;
      if (removed < size) return { count, more: false };
    } catch (error) {
      if (codeOf(error) !== STATEMENT_TIMEOUT || size === 1) throw error;
      size = Math.ceil(size / 10);
    }
  }
  return { count, more: true };
}
