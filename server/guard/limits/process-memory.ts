import { totalmem } from "node:os";
import { getHeapStatistics } from "node:v8";
import { endOfString } from "@/server/base/json/exact-number";
import { type Entry, FairQueue } from "@/server/base/scheduling/fair-queue";
import { KIB } from "@/server/contract/sizes";

/** A parsed value may take thirty times as much memory as its text. */

// Bytes of heap for each part of a parsed JSON text, as measured on V8.
const WEIGHTS = { container: 64, key: 32, item: 16, character: 1 };
const HEAVIEST_CHARACTER = WEIGHTS.container + WEIGHTS.character;
const LIGHT = 512 * KIB;
// A step may also copy its value, once to redact it and once to store it.
const COPIES = 3;
// A request is held as text and as bytes.
const REQUEST_COPIES = 2;
// A response is held as bytes, as text, and as the output's text, in up to two bytes for each of its own.
const RESPONSE_COPIES = 6;
const LIGHT_BODY_BYTES = 16 * KIB;
const BODY_COPIES = 2;
// Shares of the limit. An organization has at most half of each, and a webhook a quarter of its organization's bodies.
const SHARES = { working: 1 / 4, kept: 1 / 8, bodies: 1 / 8, texts: 1 / 8, outbound: 1 / 8, unread: 1 / 8 };
const TIGHT = 0.8;
const READING_MS = 100;
const HEAP_SHARE = 0.75;

/** The bytes of the heap that the value of a JSON text takes, roughly. */
export function weightOf(text: string): number {
  let weight = text.length * WEIGHTS.character;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === 0x22) at = endOfString(text, at);
    else if (code === 0x2c) weight += WEIGHTS.item;
    else if (code === 0x3a) weight += WEIGHTS.key;
    else if (code === 0x5b || code === 0x7b) weight += WEIGHTS.container;
  }
  return weight;
}

/** The size of a text in bytes of the heap: one byte for each character if all are ASCII, otherwise two. */
export function heapBytesOf(text: string, utf8Bytes = Buffer.byteLength(text)): number {
  return utf8Bytes === text.length ? utf8Bytes : 2 * text.length;
}

/** The heap that a process may use: less than V8's limit, if its share of the container or machine is smaller. */
export function memoryLimit({
  heap = getHeapStatistics().heap_size_limit,
  container = process.constrainedMemory(),
  machine = totalmem(),
  processes = 1,
} = {}): number {
  // Without a container's limit, it is 0 or beyond any machine's memory.
  const system = container > 0 ? Math.min(container, machine) : machine;
  return Math.min(heap, (system * HEAP_SHARE) / processes);
}

function usedMemory(): number {
  const { used_heap_size: heap, external_memory: external } = getHeapStatistics();
  return heap + external;
}

/** `isHeldUp` returns true while the run's steps must wait for other runs. */
type Waits = { signal?: AbortSignal; isHeldUp?: () => boolean };
/**
 * `from`: the request, whose sender may leave. `webhook`: the id of a trigger, because anyone who knows its address can
 * send a body slowly.
 */
type Body = { bytes: number; from?: { readonly signal: AbortSignal }; webhook?: string };
type HeldMemory = { kind: "values" | "bodies" | "unread"; cost: number; signal?: AbortSignal };

export class ProcessMemory {
  readonly limit: number;
  /** Answers, in bytes, until their clients have taken them. */
  readonly unread: FairQueue;
  readonly #used: () => number;
  readonly #working: FairQueue;
  readonly #bodies: FairQueue;
  readonly #webhooks: FairQueue;
  readonly #outbound: FairQueue;
  #reading = { at: Number.NEGATIVE_INFINITY, isTight: false };
  #kept = 0;
  readonly #keptBy = new Map<string, number>();

  constructor({ limit = memoryLimit(), used = usedMemory } = {}) {
    this.limit = limit;
    this.#used = used;
    const working = limit * SHARES.working;
    const hasSpare = () => !this.isTight();
    this.#working = new FairQueue(working, working / 2, { hasSpare });
    const outbound = limit * SHARES.outbound;
    this.#outbound = new FairQueue(outbound, outbound / 2, { hasSpare });
    const bodies = limit * SHARES.bodies;
    this.#bodies = new FairQueue(bodies, bodies / 2, { hasSpare });
    this.#webhooks = new FairQueue(Number.POSITIVE_INFINITY, bodies / 8);
    const unread = limit * SHARES.unread;
    this.unread = new FairQueue(unread, unread / 2, { hasSpare });
  }

  isTight(): boolean {
    const at = performance.now();
    if (at - this.#reading.at > READING_MS)
      this.#reading = { at, isTight: this.#used() > this.limit * TIGHT };
    return this.#reading.isTight;
  }

  get texts(): number {
    return this.limit * SHARES.texts;
  }

  /** Close it at the end of the run's segment. */
  openRun(organizationId: string, waits: Waits = {}): RunMemory {
    return new RunMemory(this, organizationId, waits);
  }

  admit(): void {
    this.#working.admit();
    this.#outbound.admit();
  }

  /** Before its body is read, the call waits until the bodies of others leave room. */
  async answer<Result>(
    organizationId: string,
    body: Body,
    work: (memory: StepMemory) => Promise<Result>,
  ): Promise<Result> {
    const leave = body.bytes > LIGHT_BODY_BYTES ? await this.#enterBody(organizationId, body) : undefined;
    const memory = this.openRun(organizationId).openStep();
    try {
      return await work(memory);
    } finally {
      memory.release();
      leave?.();
    }
  }

  /** If the sender leaves, the wait ends; the work fails when it reads the body. */
  async #enterBody(organizationId: string, { bytes, from, webhook }: Body): Promise<() => void> {
    const work = { cost: bytes * BODY_COPIES, signal: from?.signal };
    const entries: Entry[] = [];
    try {
      if (webhook !== undefined) entries.push(await this.#webhooks.enter(webhook, work));
      entries.push(await this.#bodies.enter(organizationId, work));
    } catch (error) {
      if (!work.signal?.aborted) throw error;
    }
    return () => {
      for (const entry of entries) entry.leave();
    };
  }

  enter(organizationId: string, { kind, ...work }: HeldMemory & Waits): Promise<Entry> {
    const queues = { values: this.#working, bodies: this.#outbound, unread: this.unread };
    return queues[kind].enter(organizationId, work);
  }

  /** Returns false if there is no room. A negative weight gives memory back. */
  keep(organizationId: string, weight: number): boolean {
    const kept = this.#kept + weight;
    const keptBy = (this.#keptBy.get(organizationId) ?? 0) + weight;
    const most = this.limit * SHARES.kept;
    if (weight > 0 && (kept > most || keptBy > most / 2)) return false;
    this.#kept = kept;
    if (keptBy === 0) this.#keptBy.delete(organizationId);
    else this.#keptBy.set(organizationId, keptBy);
    return true;
  }
}

export class RunMemory {
  readonly #process: ProcessMemory;
  readonly #organizationId: string;
  readonly #waits: Waits;
  #kept = 0;

  constructor(process: ProcessMemory, organizationId: string, waits: Waits) {
    this.#process = process;
    this.#organizationId = organizationId;
    this.#waits = waits;
  }

  openStep(): StepMemory {
    return new StepMemory(this, (held) =>
      this.#process.enter(this.#organizationId, { ...this.#waits, ...held }),
    );
  }

  /** Returns true if a value may stay in memory until the segment ends. Otherwise it is parsed again when needed. */
  keep(weight: number): boolean {
    if (!this.#process.keep(this.#organizationId, weight)) return false;
    this.#kept += weight;
    return true;
  }

  close(): void {
    this.#process.keep(this.#organizationId, -this.#kept);
    this.#kept = 0;
  }
}

/**
 * The memory for the values and bodies of one step or call. Values may wait while bodies are held, never the other
 * way round, so steps do not block each other. Calls of a group that holds memory itself take turns.
 */
export class StepMemory {
  readonly run: RunMemory;
  readonly #enter: (held: HeldMemory) => Promise<Entry>;
  readonly #group: StepMemory | undefined;
  #values: Promise<Entry> | undefined;
  #bodies: Promise<Entry> | undefined;
  #unread: Promise<Entry> | undefined;
  #turn: Promise<Entry> | undefined;
  #lastTurn: Promise<void> = Promise.resolve();

  constructor(run: RunMemory, enter: (held: HeldMemory) => Promise<Entry>, group?: StepMemory) {
    this.run = run;
    this.#enter = enter;
    this.#group = group;
  }

  /** Release it at the call's end. */
  openMember(): StepMemory {
    return new StepMemory(this.run, this.#enter, this);
  }

  async holdText(text: string): Promise<void> {
    if (text.length * HEAVIEST_CHARACTER > LIGHT) await this.hold(weightOf(text));
  }

  async hold(weight: number): Promise<void> {
    if (weight <= LIGHT) return;
    const cost = weight * COPIES;
    if (this.#values !== undefined) return (await this.#values).grow(cost);
    this.#values = this.#take({ kind: "values", cost });
    await this.#values.catch((error: unknown) => {
      this.#values = undefined;
      throw error;
    });
  }

  /** `signal` ends the wait earlier than the run's own, and is aborted with it. */
  holdRequest(bytes: number, signal: AbortSignal): Promise<void> {
    return this.#holdBody({ kind: "bodies", cost: bytes * REQUEST_COPIES, signal });
  }

  holdResponse(bytes: number): Promise<void> {
    return this.#holdBody({ kind: "bodies", cost: bytes * RESPONSE_COPIES });
  }

  /** For events, which count until their reader has taken them: instead of values, which others wait for. */
  async holdUnread(bytes: number, signal: AbortSignal): Promise<void> {
    if (bytes <= LIGHT_BODY_BYTES) return;
    this.#unread = this.#enter({ kind: "unread", cost: bytes * COPIES, signal });
    await this.#unread;
  }

  async #holdBody(body: HeldMemory): Promise<void> {
    const held = this.#values ?? this.#bodies;
    if (held !== undefined) return (await held).grow(body.cost);
    this.#bodies = this.#take(body);
    await this.#bodies.catch((error: unknown) => {
      this.#bodies = undefined;
      throw error;
    });
  }

  releaseBodies(): void {
    leave(this.#bodies);
    if (this.#turn === this.#bodies) this.#turn = undefined;
    this.#bodies = undefined;
  }

  release(): void {
    this.releaseBodies();
    leave(this.#values);
    leave(this.#unread);
    this.#values = undefined;
    this.#unread = undefined;
    this.#turn = undefined;
  }

  releaseWithGroups(): void {
    this.release();
    this.#group?.releaseWithGroups();
  }

  async #take(held: HeldMemory): Promise<Entry> {
    if (this.#turn !== undefined) {
      const entry = await this.#turn;
      entry.grow(held.cost);
      return entry;
    }
    let group = this.#group;
    while (group !== undefined && group.#values === undefined) group = group.#group;
    if (group === undefined) return this.#enter(held);
    this.#turn = group.#nextTurn(held.cost);
    return this.#turn;
  }

  async #nextTurn(cost: number): Promise<Entry> {
    const before = this.#lastTurn;
    let end = () => {};
    this.#lastTurn = new Promise((resolve) => {
      end = resolve;
    });
    await before;
    const entry = await this.#values;
    let held = cost;
    entry?.grow(cost);
    return {
      grow(more) {
        held += more;
        entry?.grow(more);
      },
      leave() {
        entry?.grow(-held);
        held = 0;
        end();
      },
    };
  }
}

function leave(entered: Promise<Entry> | undefined): void {
  entered?.then((entry) => entry.leave()).catch(() => {});
}
