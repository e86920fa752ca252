import { MIB } from "@/server/contract/sizes";
import type { ClaimedRun } from "../claimed-run";

/** Smaller runs stay in memory: their texts are few. */
const LARGE_BYTES = MIB;
/** The share of the limit from which on no large run comes back: less than the limit, so that it can then act. */
const COME_BACK = 3 / 4;
/** How many large runs outside memory are known. An unknown one comes back, acts once and leaves again. */
const MOST_KNOWN = 10_000;

/** A root run in progress, with the journals of it and of those that it calls. */
type Holder = {
  run: Pick<ClaimedRun, "id" | "orgId">;
  tree: { journals: ReadonlySet<{ heapBytes: number }> };
};

/** The texts of a run and of those that it calls, in bytes of the heap. */
const heapBytesOfTree = ({ journals }: Holder["tree"]): number =>
  [...journals].reduce((sum, journal) => sum + journal.heapBytes, 0);

/**
 * The texts that a process's runs keep between their acts, within a limit of bytes: inputs, outputs of steps, and
 * answers of models. An organization has at most half of it. A large run beyond it gives back its slot before its next
 * act, and gets one again when there is room. The largest run does not count, so that there is always room for one.
 */
export class RunTexts {
  readonly #limit: number;
  readonly #holders: () => Iterable<Holder>;
  /** Large runs that left: their organizations by run id, the latest at the end. */
  readonly #outside = new Map<string, string>();

  constructor(limit: number, holders: () => Iterable<Holder>) {
    this.#limit = limit;
    this.#holders = holders;
  }

  /** True if a run must give back its slot before its next act. */
  isBeyond({ run, tree }: Holder): boolean {
    return heapBytesOfTree(tree) > LARGE_BYTES && this.#crowding(1)(run.orgId);
  }

  /** False if a claimed run is too large to come back now. It must then be released. */
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

  /** The large runs that must not come back yet. */
  withoutRoom(): string[] {
    if (this.#outside.size === 0) return [];
    const isCrowded = this.#crowding(COME_BACK);
    return [...this.#outside].flatMap(([id, orgId]) => (isCrowded(orgId) ? [id] : []));
  }

  /** Returns a check of organizations: true if the texts of all, or its own, exceed `share` of their limit. */
  #crowding(share: number): (orgId: string) => boolean {
    const all = { sum: 0, most: 0 };
    const each = new Map<string, typeof all>();
    for (const { run, tree } of this.#holders()) {
      const bytes = heapBytesOfTree(tree);
      const own = each.get(run.orgId) ?? { sum: 0, most: 0 };
      each.set(run.orgId, own);
      for (const count of [all, own]) {
        count.sum += bytes;
        count.most = Math.max(count.most, bytes);
      }
    }
    const exceeds = ({ sum, most }: typeof all, limit: number) => sum - most > limit * share;
    const isFull = exceeds(all, this.#limit);
    return (orgId) => isFull || exceeds(each.get(orgId) ?? { sum: 0, most: 0 }, this.#limit / 2);
  }
}
