import { MIB } from "@/server/contract/sizes";
import { replaceNul } from "@/server/guard/secrets/stored-output";
import {
  type ChildRow,
  type CountedCall,
  type EndItem,
  type FlushAnswer,
  type HoldItem,
  readVerdict,
  type StartItem,
  type StartVerdict,
} from "./flush-items";
import { isStep, type JournalRow } from "./journal-rows";

const MAX_ITEMS = 512;
const MAX_CHARACTERS = 8 * MIB;

export type Item =
  | { kind: "start"; value: StartItem | CountedCall; resolve: (verdict: StartVerdict) => void }
  | { kind: "end"; value: EndItem; rows: JournalRow[]; resolve: (endedAt: Date | null) => void }
  | { kind: "hold"; value: HoldItem; resolve: (held: boolean) => void }
  | { kind: "child"; value: ChildRow; resolve: () => void }
  | { kind: "row"; value: JournalRow; resolve: () => void };
export type Queued = Item & {
  reject: (error: unknown) => void;
  size: number;
  deadline: number;
  /** Its caller got an error because the database did not answer in time. */
  givenUp: boolean;
};

/**
 * Divides a queue into one flush and the rest. A flush has one row per key of a run and one start per idempotency
 * key. If a row must wait, later rows of its run wait too, because readers rely on their order. Items of one
 * organization are neighbors.
 */
export function takeBatch(queue: readonly Queued[]): { batch: Queued[]; rest: Queued[] } {
  const batch: Queued[] = [];
  const rest: Queued[] = [];
  const keys = new Set<string>();
  const waitingRuns = new Set<string>();
  let size = 0;
  for (const item of queue) {
    const key = repetitionKey(item);
    const run = runOf(item);
    const fits = batch.length < MAX_ITEMS && (size + item.size <= MAX_CHARACTERS || batch.length === 0);
    if (!fits || (key !== null && keys.has(key)) || (run !== null && waitingRuns.has(run))) {
      rest.push(item);
      if (run !== null) waitingRuns.add(run);
    } else {
      if (key !== null) keys.add(key);
      batch.push(item);
      size += item.size;
    }
  }
  batch.sort((a, b) => compare(organizationOf(a), organizationOf(b)));
  return { batch, rest };
}

const compare = (a: string, b: string) => (a < b ? -1 : Number(a > b));
const organizationOf = ({ kind, value }: Item) => (kind === "row" ? value.organization_id : value.org);

/** A key that must not occur twice in one flush. */
function repetitionKey(item: Item): string | null {
  if (item.kind === "row") return `row ${item.value.run_id} ${item.value.key}`;
  if (item.kind !== "start" || item.value.idem === null) return null;
  return `idem ${item.value.org} ${item.value.scope} ${item.value.idem}`;
}

// Changes of one run are written in order.
function runOf(item: Item): string | null {
  if (item.kind === "start") return null;
  if (item.kind === "child") return item.value.id;
  return item.kind === "row" ? item.value.run_id : item.value.run;
}

/**
 * The parameters of `flush_writes` after the flush's number, time and slots: JSON arrays, null for an empty one, and the
 * organizations whose accounts change.
 */
export function toParameters(batch: Queued[]): (string | null | string[])[] {
  const children: object[] = [];
  const calls: object[] = [];
  const steps: object[] = [];
  const ends: object[] = [];
  const holds: object[] = [];
  const starts: object[] = [];
  const accounts = new Set<string>();
  const addRow = (row: JournalRow) => void (isStep(row) ? steps : calls).push(row);
  for (const item of batch) {
    if (item.kind === "end" || item.kind === "hold" || (item.kind === "start" && "id" in item.value)) {
      accounts.add(item.value.org);
    }
    if (item.kind === "start")
      starts.push({ i: starts.length, refused: !("id" in item.value), ...item.value });
    else if (item.kind === "hold") holds.push({ i: holds.length, ...item.value });
    else if (item.kind === "child") children.push(item.value);
    else if (item.kind === "row") addRow(item.value);
    else {
      ends.push({ i: ends.length, ...item.value });
      for (const row of item.rows) addRow(row);
    }
  }
  const documents = [children, calls, steps, ends, holds, starts].map((rows) =>
    rows.length === 0 ? null : toJson(rows),
  );
  return [...documents, [...accounts]];
}

/** PostgreSQL cannot store U+0000 and unpaired surrogates; they become U+FFFD. */
function toJson(rows: object[]): string {
  const text = JSON.stringify(rows);
  // JSON.stringify escapes U+0000 as \u0000 and unpaired surrogates as \ud800 to \udfff, and never pairs.
  if (!text.includes("\\ud") && !text.includes("\\u0000")) return text;
  return JSON.stringify(rows, (_key, value: unknown) =>
    typeof value === "string" ? replaceNul(value) : value,
  );
}

/** The approximate JSON length of an item. */
export function sizeOf(item: Item): number {
  const rows = item.kind === "end" ? item.rows : [];
  let size = lengthOf(item.value);
  for (const row of rows) size += lengthOf(row);
  return size;
}

// Estimated, with an allowance for fields other than texts.
function lengthOf(row: object): number {
  let size = 200;
  for (const value of Object.values(row)) if (typeof value === "string") size += value.length;
  return size;
}

/** The number of starts that got slots and still have a caller to begin them. */
export function countAdmitted(batch: Queued[], answer: FlushAnswer | null): number {
  const starts = batch.filter(({ kind }) => kind === "start");
  return starts.filter(({ givenUp }, i) => !givenUp && answer?.starts[i]?.startsWith("run")).length;
}

export function answerItems(batch: Queued[], answer: FlushAnswer | null): void {
  const ended = new Set(answer?.ended?.map(({ i }) => i) ?? []);
  let starts = 0;
  let holds = 0;
  let ends = 0;
  for (const item of batch) {
    if (item.kind === "child" || item.kind === "row") item.resolve();
    else if (answer === null) item.reject(new Error("the flush has no answer"));
    else if (item.kind === "start") item.resolve(readVerdict(answer, starts++, item.value));
    else if (item.kind === "hold") item.resolve(answer.holds?.[holds++] === "held");
    else item.resolve(ended.has(ends++) ? new Date(answer.at) : null);
  }
}
