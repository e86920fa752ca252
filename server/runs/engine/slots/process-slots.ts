import { ZERO } from "@/server/base/amount";
import type { Services } from "@/server/runs/services";
import { readClaimedRun } from "../claim";
import type { ClaimedRun } from "../claimed-run";
import type { Worker } from "../port";
import { renewClaim } from "../run-state";
import { hasEmptyJournal, readJournal, sumChildUsage } from "../takeover";
import { RunJournal } from "../write/journal";
import { emptyJournal } from "../write/journal-contents";
import { capBudget, openBudget } from "./budget";
import { RunTexts } from "./run-texts";
import { type Slot, waitForWrites } from "./slot";

const NO_CHILDREN = { open: ZERO, ended: ZERO, count: 0 };

/** The slots of one process: which root runs have one, and how many are reserved for runs that are being claimed. */
export class ProcessSlots {
  readonly total: number;
  readonly #getServices: () => Services;
  readonly #taken = new Map<string, Slot>();
  #reserved = 0;
  #texts: RunTexts | undefined;

  constructor(getServices: () => Services, total: number) {
    this.#getServices = getServices;
    this.total = total;
  }

  get free(): number {
    return this.total - this.#taken.size - this.#reserved;
  }

  get used(): number {
    return this.#taken.size;
  }

  get texts(): RunTexts {
    this.#texts ??= new RunTexts(this.#getServices().memory.texts, () => this.#taken.values());
    return this.#texts;
  }

  /** A negative number returns slots. */
  reserve(slots: number): void {
    this.#reserved += slots;
  }

  get(runId: string): Slot | undefined {
    return this.#taken.get(runId);
  }

  runIds(): string[] {
    return [...this.#taken.keys()];
  }

  /** `children`: what the run's child runs have used. */
  open(run: ClaimedRun, worker: Worker, { contents = emptyJournal(), children = NO_CHILDREN } = {}): Slot {
    const journal = new RunJournal(this.#getServices(), worker, { run, contents });
    const used = contents.totals.creditsUsed.add(children.open);
    const budget = capBudget(openBudget(worker, run, used), run.cap, used.add(children.ended));
    const tree = { started: children.count, journals: new Set([journal]), hasEndedChild: false };
    const slot: Slot = { run, worker, journal, budget, tree, yielding: false };
    this.#taken.set(run.id, slot);
    this.texts.enter(run);
    return slot;
  }

  async openClaimed(run: ClaimedRun, worker: Worker): Promise<Slot> {
    if (hasEmptyJournal(run)) return this.open(run, worker);
    const services = this.#getServices();
    const contents = await readJournal(services, run);
    const [children] = await sumChildUsage(services.pool, [run.id]);
    if (children === undefined) throw new Error("a sum has no row");
    const { held } = children;
    return this.open({ ...run, held }, worker, { contents, children });
  }

  /** Null if this worker no longer has the run. */
  async reopen(slot: Slot): Promise<Slot | null> {
    const services = this.#getServices();
    await waitForWrites(slot);
    if (!(await renewClaim(services, slot))) return null;
    const renewed = await readClaimedRun(services, slot.run.id);
    return renewed === null ? null : this.openClaimed(renewed, slot.worker);
  }

  /** The run may have got another slot since. */
  close(slot: Slot): void {
    if (this.#taken.get(slot.run.id) === slot) this.#taken.delete(slot.run.id);
    // Its texts held others up.
    this.#getServices().memory.admit();
  }

  /** Excludes runs that are yielding their slot. */
  runningByOrganization(): Map<string, number> {
    const running = new Map<string, number>();
    for (const { run, yielding } of this.#taken.values()) {
      if (!yielding) running.set(run.orgId, (running.get(run.orgId) ?? 0) + 1);
    }
    return running;
  }
}
