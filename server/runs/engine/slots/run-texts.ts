import { MIB } from "@/server/contract/sizes";
import type { ClaimedRun } from "../claimed-run";

// Smaller runs stay in memory: their texts are few.
const LARGE_BYTES = MIB;
// Less than the whole limit, so that a large run that comes back can make a call.
const COME_BACK = 3 / 4;
// An organization with less than this share of the limit has few texts.
const FEW = 1 / 8;
// An unknown large run comes back, makes one call and leaves again.
const MOST_KNOWN = 10_000;

type Holder = {
  run: Pick<ClaimedRun, "id" | "orgId">;
  tree: { journals: ReadonlySet<{ bytes: { heap: number } }> };
};

const heapBytesOfTree = ({ journals }: Holder["tree"]): number =>
  [...journals].reduce((sum, journal) => sum + journal.bytes.heap, 0);

/**
 * Limits the bytes of texts that a process's runs keep between calls; an organization has at most half. A large run
 * beyond that yields its slot until there is room. The largest run does not count, so that there is always room for
 * one.
 */
export class RunTexts {
  readonly #limit: number;
  readonly #holders: () => Iterable<Holder>;
  /** Organizations by run id, the latest at the end. */
  readonly #outside = new Map<string, string>();

  constructor(limit: number, holders: () => Iterable<Holder>) {
    this.#limit = limit;
    this.#holders = holders;
  }

  isBeyond({ run, tree }: Holder): boolean {
    return heapBytesOfTree(tree) > LARGE_BYTES && this.#crowding(1)(run.orgId);
  }

  /** False: the run is too large to come back now and must be released. */
  admits(run: Pick<ClaimedRun, "id" | "orgId" | "storedBytes">): boolean {
    if (run.storedBytes <= LARGE_BYTES || !this.#crowding(COME_BACK)(run.orgId)) return true;
    this.leave(run);
    return false;
  }

  /** Call when a large run has left, or could not come back. */
  leave({ id, orgId }: Pick<ClaimedRun, "id" | "orgId">): void {
    this.#outside.delete(id);
    this.#outside.set(id, orgId);
    const [oldest] = this.#outside.keys();
    if (this.#outside.size > MOST_KNOWN && oldest !== undefined) this.#outside.delete(oldest);
  }

  enter({ id }: Pick<ClaimedRun, "id">): void {
    this.#outside.delete(id);
  }

  withoutRoom(): string[] {
    if (this.#outside.size === 0) return [];
    const isCrowded = this.#crowding(COME_BACK);
    return [...this.#outside].flatMap(([id, orgId]) => (isCrowded(orgId) ? [id] : []));
  }

  /**
   * True: the run must not read or make another large value yet. The largest run continues, so that it frees
   * its memory. Others do not hold up an organization with few texts.
   */
  isHeldUp({ run: { id, orgId } }: Holder): boolean {
    const { all, each } = this.#count();
    const own = each.get(orgId) ?? NO_TEXTS;
    if (exceeds(own, this.#limit / 2) && own.largest !== id) return true;
    return exceeds(all, this.#limit) && all.largest !== id && own.sum > this.#limit * FEW;
  }

  #crowding(share: number): (orgId: string) => boolean {
    const { all, each } = this.#count();
    const isFull = exceeds(all, this.#limit * share);
    return (orgId) => isFull || exceeds(each.get(orgId) ?? NO_TEXTS, (this.#limit / 2) * share);
  }

  #count(): { all: Texts; each: Map<string, Texts> } {
    const all: Texts = { ...NO_TEXTS };
    const each = new Map<string, Texts>();
    for (const { run, tree } of this.#holders()) {
      const bytes = heapBytesOfTree(tree);
      const own = each.get(run.orgId) ?? { ...NO_TEXTS };
      each.set(run.orgId, own);
      for (const texts of [all, own]) {
        texts.sum += bytes;
        if (bytes > texts.most) Object.assign(texts, { most: bytes, largest: run.id });
      }
    }
    return { all, each };
  }
}

type Texts = { sum: number; most: number; largest: string | null };
const NO_TEXTS: Texts = { sum: 0, most: 0, largest: null };

// The largest run does not count.
const exceeds = ({ sum, most }: Texts, limit: number) => sum - most > limit;
