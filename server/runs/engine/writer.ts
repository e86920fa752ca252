import type pg from "pg";
import { connect, TIMEOUTS } from "@/server/db/connect";
import { isTransient } from "@/server/db/outage";
import { replaceNul } from "@/server/secrets/stored-output";
import type { Services } from "@/server/services";
import { sleep } from "@/server/sleep";
import {
  type ChildRow,
  type EndItem,
  type EndVerdict,
  type FlushAnswer,
  flushAnswer,
  type HoldItem,
  type HoldVerdict,
  type JournalRow,
  type RefusalItem,
  type RefusalVerdict,
  readRefusal,
  readStart,
  type StartItem,
  type StartVerdict,
} from "./flush-items";
import { pauseAt } from "./pause-points";

/**
 * The group-commit writer of one worker (docs/engine.md). It has two lanes with one connection each. `accounts` takes
 * starts, ends, holds and refused calls, which lock organizations; `journal` takes completed model calls and steps. A
 * free lane sends everything queued in one call of `flush_writes`: one round trip, one transaction, one commit. A batch
 * is what arrived during the last flush; there is no timer. The database stores each flush's number and response. After
 * a lost connection, the lane reads the row: it returns the response of a committed flush, and sends any other again
 * under a new number. The database refuses the old number if it still arrives.
 */

/** The most items and characters of one flush. */
const MAX_ITEMS = 512;
const MAX_CHARACTERS = 8 * 1024 * 1024;
/** How long a start waits for an unavailable database; writes for an executing run wait without limit. */
const START_TIMEOUT_MS = 10_000;

/** Another process took over this worker's runs, because its heartbeat stopped. The database refuses its writes. */
export class WorkerLost extends Error {
  override name = "WorkerLost";
}

type Item =
  | { kind: "start"; value: StartItem; resolve: (verdict: StartVerdict) => void }
  | { kind: "refusal"; value: RefusalItem; resolve: (verdict: RefusalVerdict) => void }
  | { kind: "end"; value: EndItem; rows: JournalRow[]; resolve: (verdict: EndVerdict) => void }
  | { kind: "hold"; value: HoldItem; resolve: (verdict: HoldVerdict) => void }
  | { kind: "child"; value: ChildRow; resolve: () => void }
  | { kind: "row"; value: JournalRow; resolve: () => void };
type Queued = Item & {
  reject: (error: unknown) => void;
  size: number;
  deadline: number;
  /** Its caller got an error because the database did not answer in time. */
  givenUp: boolean;
};

/** A lane's counters, for the benchmark and the tests that assert commits per operation. */
export type LaneFigures = { flushes: number; items: number };

export type LaneOptions = {
  services: Pick<Services, "env" | "clock" | "log">;
  workerId: string;
  lane: "accounts" | "journal";
  /** How many starts may execute in this process at once. */
  freeSlots: () => number;
  onStart: () => void;
  /** Called with how many starts got slots, before their callers are. */
  onAdmitted: (starts: number) => void;
  /** Called once when the worker's row is gone. */
  onLost: (error: WorkerLost) => void;
};

export class Lane {
  readonly figures: LaneFigures = { flushes: 0, items: 0 };
  readonly #options: LaneOptions;
  #queue: Queued[] = [];
  #client: pg.Client | undefined;
  #flush = 0;
  #working = false;
  #scheduled = false;
  #closed = false;
  /** Flush `#flush + 1` was sent without a response. */
  #unsure = false;
  readonly #starting = new Set<string>();
  #lost: WorkerLost | undefined;
  #idle: (() => void)[] = [];

  constructor(options: LaneOptions) {
    this.#options = options;
  }

  start(value: StartItem): Promise<StartVerdict> {
    this.#starting.add(value.id);
    this.#options.onStart();
    return this.#push<StartVerdict>(
      (resolve) => ({ kind: "start", value, resolve }),
      START_TIMEOUT_MS,
    ).finally(() => this.#starting.delete(value.id));
  }
  isStarting(runId: string): boolean {
    return this.#starting.has(runId);
  }
  refuse(value: RefusalItem): Promise<RefusalVerdict> {
    return this.#push((resolve) => ({ kind: "refusal", value, resolve }), START_TIMEOUT_MS);
  }
  /** Ends a run; `rows` are its last journal rows, committed with the end. */
  end(value: EndItem, rows: JournalRow[] = []): Promise<EndVerdict> {
    return this.#push((resolve) => ({ kind: "end", value, rows, resolve }));
  }
  hold(value: HoldItem): Promise<HoldVerdict> {
    return this.#push((resolve) => ({ kind: "hold", value, resolve }));
  }
  child(value: ChildRow): Promise<void> {
    return this.#push((resolve) => ({ kind: "child", value, resolve: () => resolve(undefined) }));
  }
  row(value: JournalRow): Promise<void> {
    return this.#push((resolve) => ({ kind: "row", value, resolve: () => resolve(undefined) }));
  }

  /** Writes what is queued and closes the connection. */
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
      const made = item(resolve);
      const size =
        made.kind === "end"
          ? sizeOf(made.value) + made.rows.reduce((sum, row) => sum + sizeOf(row.value), 0)
          : made.kind === "row"
            ? sizeOf(made.value.value)
            : sizeOf(made.value);
      const deadline = performance.now() + timeoutMs;
      this.#queue.push({ ...made, reject, size, deadline, givenUp: false });
      this.#schedule();
    });
  }

  /** Flushes at the end of this turn of the event loop, to write concurrent items together. */
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
    while (this.#queue.length > 0 && !this.#lost) await this.#write(this.#takeBatch());
    this.#working = false;
    if (this.#lost) this.#endClient();
    for (const resolve of this.#idle.splice(0)) resolve();
  }

  /**
   * Takes what fits into one flush: only the first row per key of a run, and only the first start per idempotency key.
   * A run whose row must wait waits with all its later rows, because readers rely on their order.
   */
  #takeBatch(): Queued[] {
    const batch: Queued[] = [];
    const later: Queued[] = [];
    const keys = new Set<string>();
    const waitingRuns = new Set<string>();
    let size = 0;
    for (const item of this.#queue) {
      const key = repetitionKey(item);
      const run = runOf(item);
      const fits = batch.length < MAX_ITEMS && (size + item.size <= MAX_CHARACTERS || batch.length === 0);
      if (!fits || (key !== null && keys.has(key)) || (run !== null && waitingRuns.has(run))) {
        later.push(item);
        if (run !== null) waitingRuns.add(run);
      } else {
        if (key !== null) keys.add(key);
        batch.push(item);
        size += item.size;
      }
    }
    this.#queue = later;
    return batch;
  }

  async #write(batch: Queued[]): Promise<void> {
    if (this.#lost) return this.#lose(this.#lost, batch);
    try {
      const answer = await this.#flushOnce(batch);
      await pauseAt(`${this.#options.lane}:answered`);
      const admitted = countAdmitted(batch, answer);
      if (admitted > 0) this.#options.onAdmitted(admitted);
      settle(batch, answer);
    } catch (error) {
      if (error instanceof WorkerLost) return this.#lose(error, batch);
      const [only] = batch;
      if (batch.length === 1 && only) return only.reject(error);
      // One invalid item must not fail the others: each is written alone.
      for (const item of batch) await this.#write([item]);
    }
  }

  /**
   * Sends one flush until it is known to be committed or refused. Abandoned, uncommitted items leave the batch. Throws
   * WorkerLost and errors of the statement.
   */
  async #flushOnce(batch: Queued[]): Promise<FlushAnswer | null> {
    for (let delay = 20; ; delay = Math.min(delay * 2, 1_000)) {
      try {
        this.#client ??= await connect(this.#options.services.env.databaseUrl);
        const fate = this.#unsure ? await this.#learnFate(this.#client) : NOT_COMMITTED;
        if (!fate.committed) dropGivenUp(batch);
        if (batch.length === 0) return null;
        const answer = fate.committed ? fate.answer : await this.#send(this.#client, batch);
        this.figures.flushes += 1;
        this.figures.items += batch.length;
        return answer;
      } catch (error) {
        const code = codeOf(error);
        if (code === "SW001") throw new WorkerLost("The worker was replaced by another process.");
        const rolledBack = code === "40P01" || code === "40001";
        if (rolledBack || !isTransient(error)) this.#unsure = false;
        if (!isTransient(error)) throw error;
        if (!rolledBack) await this.#disconnect(error);
        this.#giveUpOverdue(batch, error);
        if (!this.#unsure) dropGivenUp(batch);
        if (batch.length === 0) return null;
        await sleep(delay, NEVER);
      }
    }
  }

  async #send(client: pg.Client, batch: Queued[]): Promise<FlushAnswer | null> {
    const { services, workerId, lane, freeSlots } = this.#options;
    await pauseAt(`${lane}:before`);
    const flush = this.#flush + 1;
    const documents = toDocuments(batch);
    const values = [workerId, lane, flush, services.clock.forDatabase(), freeSlots(), ...documents];
    this.#unsure = true;
    const asked = ask<{ answer: string | null }>(client, { ...FLUSH, values });
    await pauseAt(`${lane}:sent`);
    const { rows } = await asked;
    this.#unsure = false;
    this.#flush = flush;
    return readAnswer(rows[0]?.answer);
  }

  /** Whether a flush without a response was committed. If not, its number is used up. Throws WorkerLost. */
  async #learnFate(client: pg.Client): Promise<Fate> {
    const { workerId, lane } = this.#options;
    const flush = this.#flush + 1;
    await ask(client, {
      text: "UPDATE worker_lanes SET flush = $3, answer = $4 WHERE worker_id = $1 AND lane = $2 AND flush = $3 - 1",
      values: [workerId, lane, flush, SKIPPED],
    });
    const { rows } = await ask<{ flush: string; answer: string | null }>(client, {
      text: "SELECT flush, answer FROM worker_lanes WHERE worker_id = $1 AND lane = $2",
      values: [workerId, lane],
    });
    const row = rows[0];
    if (row === undefined) throw new WorkerLost("The worker was replaced by another process.");
    if (Number(row.flush) !== flush) throw new Error(`lane ${lane} is at flush ${row.flush}, not ${flush}`);
    this.#unsure = false;
    this.#flush = flush;
    return row.answer === SKIPPED ? NOT_COMMITTED : { committed: true, answer: readAnswer(row.answer) };
  }

  /** Rejects callers that have waited too long. Their unsent items are dropped. */
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

  /** Stops writing: the worker's row is gone. Closes the connection unless a flush is in progress, which is refused. */
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

const FLUSH = {
  name: "flush-writes",
  text: "SELECT flush_writes($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12) AS answer",
};
/** The response stored in a lane's row for a number that was used up. */
const SKIPPED = "skipped";
/** The outcome of a flush without a response. */
type Fate = { committed: false } | { committed: true; answer: FlushAnswer | null };
const NOT_COMMITTED: Fate = { committed: false };
const NEVER = new AbortController().signal;

/** Removes items whose callers have given up. */
function dropGivenUp(batch: Queued[]): void {
  batch.splice(0, batch.length, ...batch.filter(({ givenUp }) => !givenUp));
}

/** Queries a connection; breaks it if the server is silent for longer than any statement may take. */
async function ask<Row extends pg.QueryResultRow>(
  client: pg.Client,
  query: pg.QueryConfig,
): Promise<pg.QueryResult<Row>> {
  const silence = setTimeout(() => {
    client.connection.stream.destroy(
      Object.assign(new Error("The database does not answer."), { code: "ETIMEDOUT" }),
    );
  }, TIMEOUTS.silence);
  try {
    return await client.query<Row>(query);
  } finally {
    clearTimeout(silence);
  }
}

function readAnswer(text: string | null | undefined): FlushAnswer | null {
  return text ? flushAnswer.parse(JSON.parse(text)) : null;
}

function codeOf(error: unknown): string {
  return error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : "";
}

/** What must not occur twice in one flush. */
function repetitionKey(item: Item): string | null {
  if (item.kind === "row") return `row ${item.value.value.run} ${item.value.value.key}`;
  if ((item.kind === "start" || item.kind === "refusal") && item.value.idem !== null) {
    return `idem ${item.value.org} ${item.value.scope} ${item.value.idem}`;
  }
  return null;
}

/** The run whose changes are written in order. */
function runOf(item: Item): string | null {
  if (item.kind === "row") return item.value.value.run;
  if (item.kind === "hold" || item.kind === "end") return item.value.run;
  return item.kind === "child" ? item.value.id : null;
}

/** A flush's JSON arrays in the order of the function's parameters; null for an empty one. */
function toDocuments(batch: Queued[]): (string | null)[] {
  const children: object[] = [];
  const calls: object[] = [];
  const steps: object[] = [];
  const refusals: object[] = [];
  const ends: object[] = [];
  const holds: object[] = [];
  const starts: object[] = [];
  const addRow = (row: JournalRow) => void (row.table === "steps" ? steps : calls).push(row.value);
  for (const item of batch) {
    if (item.kind === "start") starts.push({ i: starts.length, ...item.value });
    else if (item.kind === "refusal") refusals.push({ i: refusals.length, ...item.value });
    else if (item.kind === "hold") holds.push({ i: holds.length, ...item.value });
    else if (item.kind === "child") children.push(item.value);
    else if (item.kind === "row") addRow(item.value);
    else {
      ends.push({ i: ends.length, ...item.value });
      for (const row of item.rows) addRow(row);
    }
  }
  return [children, calls, steps, refusals, ends, holds, starts].map((rows) =>
    rows.length === 0 ? null : toJson(rows),
  );
}

/** JSON that PostgreSQL can store: U+0000 and unpaired surrogates become U+FFFD. */
function toJson(rows: object[]): string {
  const text = JSON.stringify(rows);
  // JSON.stringify escapes U+0000 as \u0000 and unpaired surrogates as \ud800 to \udfff, and never pairs.
  if (!text.includes("\\ud") && !text.includes("\\u0000")) return text;
  return JSON.stringify(rows, (_key, value: unknown) =>
    typeof value === "string" ? replaceNul(value) : value,
  );
}

/** The approximate JSON length of a row: its texts and some more. */
function sizeOf(row: object): number {
  let size = 200;
  for (const value of Object.values(row)) if (typeof value === "string") size += value.length;
  return size;
}

/** How many starts got slots and still have a caller to begin them. */
function countAdmitted(batch: Queued[], answer: FlushAnswer | null): number {
  const starts = batch.filter(({ kind }) => kind === "start");
  return starts.filter(({ givenUp }, i) => !givenUp && answer?.starts[i]?.startsWith("run")).length;
}

function settle(batch: Queued[], answer: FlushAnswer | null): void {
  const ended = new Set(answer?.ended?.map(({ i }) => i) ?? []);
  let starts = 0;
  let refusals = 0;
  let holds = 0;
  let ends = 0;
  for (const item of batch) {
    if (item.kind === "child" || item.kind === "row") item.resolve();
    else if (answer === null) item.reject(new Error("the flush has no answer"));
    else if (item.kind === "start") item.resolve(readStart(answer, starts++, item.value));
    else if (item.kind === "refusal") item.resolve(readRefusal(answer, refusals++, item.value));
    else if (item.kind === "hold") item.resolve(answer.holds?.[holds++] ?? "uncovered");
    else item.resolve({ ended: ended.has(ends++), at: answer.at });
  }
}
