import pg from "pg";
import type { Clock } from "@/server/base/clock";
import { isTransient, rejectsWrites } from "@/server/base/db/outage";
import { codeOf } from "@/server/base/errors";
import type { Logger } from "@/server/base/log";
import type { Histogram } from "@/server/base/metrics/families";
import type { Metrics } from "@/server/base/metrics/metrics";
import { pauseAt } from "@/server/base/pause-points";
import type { Environment } from "@/server/base/settings/env";
import { sleep } from "@/server/base/sleep";
import { answerItems, countAdmitted, type Item, type Queued, sizeOf, takeBatch, toParameters } from "./batch";
import {
  type ChildRow,
  type CountedCall,
  type EndItem,
  type FlushAnswer,
  type HoldItem,
  readAnswer,
  type StartItem,
  type StartVerdict,
} from "./flush-items";
import type { JournalRow } from "./journal-rows";
import { connectLane, type LaneName, NOT_COMMITTED, readOutcome, sendFlush } from "./numbered-flush";

/**
 * Group commit (docs/engine.md): a free lane sends everything queued in one call of `flush_writes`, without a
 * timer. `accounts` locks organizations; `journal` does not wait for it.
 */

// Of a start; writes for an executing run wait without limit.
const START_TIMEOUT_MS = 10_000;

/** Another process took over this worker's runs, because its heartbeat stopped. The database rejects its writes. */
export class WorkerLost extends Error {
  override name = "WorkerLost";

  constructor(message = "The worker was replaced by another process.", options?: ErrorOptions) {
    super(message, options);
  }
}

/** A lane's counters, for the benchmark and the tests that assert commits per operation. */
export type LaneFigures = { flushes: number; items: number };

export type LaneOptions = {
  services: {
    env: Pick<Environment, "databaseUrl">;
    clock: Clock;
    log: Logger;
    metrics: Pick<Metrics, "flushItems">;
  };
  workerId: string;
  lane: LaneName;
  freeSlots: () => number;
  onStart: () => void;
  /** Called with how many starts got slots, before their callers are. */
  onAdmitted: (starts: number) => void;
  /** The database could not store a flush, such as with a full disk. */
  onRejected: () => void;
  onLost: (error: WorkerLost) => void;
};

export class Lane {
  readonly figures: LaneFigures = { flushes: 0, items: 0 };
  readonly #options: LaneOptions;
  readonly #flushItems: Histogram;
  #queue: Queued[] = [];
  #client: pg.Client | undefined;
  #flush = 0;
  #working = false;
  #scheduled = false;
  #closed = false;
  /** Flush `#flush + 1` was sent without a response. */
  #outcomeUnknown = false;
  readonly #starting = new Set<string>();
  #lost: WorkerLost | undefined;
  #idle: (() => void)[] = [];

  constructor(options: LaneOptions) {
    this.#options = options;
    this.#flushItems = options.services.metrics.flushItems.of(options.lane);
  }

  start(value: StartItem): Promise<StartVerdict> {
    this.#starting.add(value.id);
    this.#options.onStart();
    return this.#count(value).finally(() => this.#starting.delete(value.id));
  }
  /** The number of starts without a response. */
  get starting(): number {
    return this.#starting.size;
  }
  isStarting(runId: string): boolean {
    return this.#starting.has(runId);
  }
  reject(value: CountedCall): Promise<StartVerdict> {
    return this.#count(value);
  }
  #count(value: StartItem | CountedCall): Promise<StartVerdict> {
    return this.#push((resolve) => ({ kind: "start", value, resolve }), START_TIMEOUT_MS);
  }
  /** `rows` are committed with the end. Null if the run had ended or is not this worker's. */
  end(value: EndItem, rows: JournalRow[] = []): Promise<Date | null> {
    return this.#push((resolve) => ({ kind: "end", value, rows, resolve }));
  }
  /** False if the balance does not allow it. */
  hold(value: HoldItem): Promise<boolean> {
    return this.#push((resolve) => ({ kind: "hold", value, resolve }));
  }
  child(value: ChildRow): Promise<void> {
    return this.#push((resolve) => ({ kind: "child", value, resolve: () => resolve(undefined) }));
  }
  row(value: JournalRow): Promise<void> {
    return this.#push((resolve) => ({ kind: "row", value, resolve: () => resolve(undefined) }));
  }

  async close(): Promise<void> {
    if (this.#working || this.#queue.length > 0) {
      await new Promise<void>((resolve) => this.#idle.push(resolve));
    }
    this.#closed = true;
    await this.#client?.end().catch(() => {});
  }

  #push<T>(item: (resolve: (verdict: T) => void) => Item, timeoutMs = Number.POSITIVE_INFINITY): Promise<T> {
    return new Promise((resolve, reject) => {
      if (this.#lost) return reject(this.#lost);
      const created = item(resolve);
      const deadline = performance.now() + timeoutMs;
      this.#queue.push({ ...created, reject, size: sizeOf(created), deadline, givenUp: false });
      this.#schedule();
    });
  }

  #schedule(): void {
    if (this.#scheduled || this.#working) return;
    this.#scheduled = true;
    setImmediate(() => {
      this.#scheduled = false;
      void this.#work();
    });
  }

  async #work(): Promise<void> {
    if (this.#working) return;
    this.#working = true;
    while (this.#queue.length > 0 && !this.#lost) {
      const { batch, rest } = takeBatch(this.#queue);
      this.#queue = rest;
      await this.#write(batch);
    }
    this.#working = false;
    if (this.#lost) this.#endClient();
    for (const resolve of this.#idle.splice(0)) resolve();
  }

  async #write(batch: Queued[]): Promise<void> {
    if (this.#lost) return this.#lose(this.#lost, batch);
    try {
      const answer = await this.#flushOnce(batch);
      await pauseAt(`${this.#options.lane}:answered`);
      const admitted = countAdmitted(batch, answer);
      if (admitted > 0) this.#options.onAdmitted(admitted);
      answerItems(batch, answer);
    } catch (error) {
      if (error instanceof WorkerLost) return this.#lose(error, batch);
      const [only] = batch;
      if (batch.length === 1 && only) return only.reject(error);
      // One invalid item must not fail the others: each is written alone.
      for (const item of batch) await this.#write([item]);
    }
  }

  // Abandoned, uncommitted items leave the batch. Throws WorkerLost and errors of the statement.
  async #flushOnce(batch: Queued[]): Promise<FlushAnswer | null> {
    for (let delay = 20; ; delay = Math.min(delay * 2, 1_000)) {
      let sent = false;
      try {
        this.#client ??= await connectLane(this.#options.services.env.databaseUrl);
        const outcome = this.#outcomeUnknown ? await this.#readOutcome(this.#client) : NOT_COMMITTED;
        if (!outcome.committed) dropGivenUp(batch);
        if (batch.length === 0) return null;
        if (outcome.committed) return readAnswer(outcome.answer);
        // Before it is sent: others may see what it commits before its answer arrives here.
        this.figures.flushes += 1;
        this.figures.items += batch.length;
        this.#flushItems.observe(batch.length);
        sent = true;
        return await this.#send(this.#client, batch);
      } catch (error) {
        const code = codeOf(error);
        if (code === "SW001") throw new WorkerLost();
        const rolledBack = code === "40P01" || code === "40001";
        // Only PostgreSQL's own error of the flush tells that it was not committed. After any other error it may have been,
        // and the lane would use a spent number from then on.
        const isAnswered = sent && error instanceof pg.DatabaseError;
        if (isAnswered && (rolledBack || !isTransient(error))) this.#outcomeUnknown = false;
        if (rejectsWrites(error)) this.#options.onRejected();
        if (!isTransient(error) && !this.#outcomeUnknown) throw error;
        if (!rolledBack) await this.#disconnect(error);
        this.#giveUpOverdue(batch, error);
        if (!this.#outcomeUnknown) dropGivenUp(batch);
        if (batch.length === 0) return null;
        await sleep(delay);
      }
    }
  }

  async #send(client: pg.Client, batch: Queued[]): Promise<FlushAnswer | null> {
    const { services, workerId, lane, freeSlots } = this.#options;
    await pauseAt(`${lane}:before`);
    const flush = this.#flush + 1;
    const values = [services.clock.forDatabase(), freeSlots(), ...toParameters(batch)];
    this.#outcomeUnknown = true;
    const answer = await sendFlush(client, { workerId, lane, flush }, values);
    this.#outcomeUnknown = false;
    this.#flush = flush;
    return readAnswer(answer);
  }

  /** Throws WorkerLost. */
  async #readOutcome(client: pg.Client) {
    const { workerId, lane } = this.#options;
    const flush = this.#flush + 1;
    const outcome = await readOutcome(client, { workerId, lane, flush });
    if (outcome === null) throw new WorkerLost();
    this.#outcomeUnknown = false;
    this.#flush = flush;
    return outcome;
  }

  #giveUpOverdue(batch: Queued[], error: unknown): void {
    const now = performance.now();
    for (const item of [...batch, ...this.#queue]) {
      if (item.deadline >= now) continue;
      item.givenUp = true;
      item.reject(error);
    }
    this.#queue = this.#queue.filter((item) => !item.givenUp);
  }

  async #disconnect(error: unknown): Promise<void> {
    const { services, lane } = this.#options;
    if (this.#client && !this.#closed)
      services.log.warn("A writer lost its database connection; retrying", { lane, error });
    const client = this.#client;
    this.#client = undefined;
    await client?.end().catch(() => {});
  }

  /** Keeps the connection open while a flush is in progress; that flush is rejected. */
  abandon(error: WorkerLost): void {
    this.#lost ??= error;
    for (const item of this.#queue.splice(0)) item.reject(error);
    if (!this.#working) this.#endClient();
  }

  #endClient(): void {
    void this.#client?.end().catch(() => {});
    this.#client = undefined;
  }

  #lose(error: WorkerLost, batch: Queued[]): void {
    for (const item of batch) item.reject(error);
    this.abandon(error);
    this.#options.onLost(error);
  }
}

function dropGivenUp(batch: Queued[]): void {
  batch.splice(0, batch.length, ...batch.filter(({ givenUp }) => !givenUp));
}
