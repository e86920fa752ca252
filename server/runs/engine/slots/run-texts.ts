import { MIB } from "@/server/contract/sizes";
import type { ClaimedRun } from "../claimed-run";

/** Smaller runs stay in memory: their texts are few. */
const LARGE_BYTES = MIB;
/** The share of the limit from which on no large run comes back: less than the limit, so that it can then act. */
const COME_BACK = 3 / 4;
/** An organization with less than this share of the limit has few texts. */
const FEW = 1 / 8;
/** The most large runs outside memory that are known. An unknown one comes back, acts once and leaves again. */
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

  /**
   * True if a run must not make or read another large value or body yet, although it is in the middle of its acts and
   * cannot leave. Of the runs that crowd the memory the largest goes on, so that it leaves. An organization with few texts
   * is not held up by others.
   */
  isHeldUp({ run: { id, orgId } }: Holder): boolean {
    const { all, each } = this.#count();
    const own = each.get(orgId) ?? NO_TEXTS;
    if (exceeds(own, this.#limit / 2) && own.largest !== id) return true;
    return exceeds(all, this.#limit) && all.largest !== id && own.sum > this.#limit * FEW;
  }

  /** Returns a check of organizations: true if the texts of all, or its own, exceed `share` of their limit. */
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

/** The texts of several runs, those of the largest of them, and its id. */
type Texts = { sum: number; most: number; largest: string | null };
const NO_TEXTS: Texts = { sum: 0, most: 0, largest: null };

/** The largest run does not count. */
const exceeds = ({ sum, most }: Texts, limit: number) => sum - most > limit;
