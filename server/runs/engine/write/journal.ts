import { pauseAt } from "@/server/base/pause-points";
import type { EndedStatus } from "@/server/contract/enums";
import { notifyRunChanged } from "@/server/runs/run-changes";
import type { Services } from "@/server/runs/services";
import type { Attempt } from "@/server/work/models/port";
import { addTokens, type ClaimedRun, type Totals } from "../claimed-run";
import type { Worker } from "../port";
import { type FinishedCall, type FinishedStep, type JournalContents, KeptBytes } from "./journal-contents";
import { JournalNumbers } from "./journal-numbers";
import {
  type CallResult,
  callChange,
  isStep,
  type JournalRow,
  type ModelCallRow,
  type NewCall,
  type NewStep,
  newCallRow,
  newStepRow,
  type StepResult,
  type StepRow,
  stepChange,
  unfinishedChange,
} from "./journal-rows";

/**
 * A completed row is final: it is never executed or charged again. Rows of open calls are for pages, and only long
 * calls write them. The last completed row waits for the run's next act, so that it can be committed with the end.
 */

const SHOW_STARTED_AFTER_MS = 100;
// The longest time that a completed row waits for the end of its run.
const JOIN_END_WITHIN_MS = 5;

type Started<Row> = { row: Row; startedAt: number; timer: NodeJS.Timeout; attempts: Attempt[] };
type StartedCall = Started<ModelCallRow>;
export type StartedStep = Started<StepRow>;

export class RunJournal {
  readonly calls: Map<string, FinishedCall>;
  readonly steps: Map<string, FinishedStep>;
  readonly totals: Totals;
  readonly numbers: JournalNumbers;
  readonly bytes: KeptBytes;
  #hasProgressed = false;
  readonly #services: Services;
  readonly #worker: Worker;
  readonly #run: ClaimedRun;
  /** An open step counts as executed if the run ends before it begins again. */
  readonly #past: Pick<JournalContents, "interrupted" | "openSteps" | "skipped">;
  #open = 0;
  #waiting: JournalRow[] = [];
  /** Nothing depends on them, so they are written with the next other row, behind the rows that waited then. */
  #skipped: { row: StepRow; behind: number }[] = [];
  #timer: NodeJS.Timeout | undefined;
  #writing = new Set<Promise<void>>();
  /** Writes in other lanes that must be committed before the run ends or leaves its worker. */
  #before: Promise<void> = Promise.resolve();
  /** By key; a later attempt may start them again. */
  #abandoned = new Map<string, StartedCall | StartedStep>();

  constructor(
    services: Services,
    worker: Worker,
    { run, contents }: { run: ClaimedRun; contents: JournalContents },
  ) {
    this.#services = services;
    this.#worker = worker;
    this.#run = run;
    this.calls = contents.calls;
    this.steps = contents.steps;
    this.bytes = new KeptBytes(run.input, contents);
    this.totals = contents.totals;
    this.#past = contents;
    this.numbers = new JournalNumbers(run, contents);
  }

  /** For the run's own row: its first calls do not wait for it. */
  follow(written: Promise<void>): void {
    this.#before = written;
    written.catch(() => {});
  }

  /**
   * Commits all but the returned rows, which belong to the end of the run. Open calls and steps fail unless the run
   * completed. Throws WorkerLost.
   */
  async takeRemainingRows(status: EndedStatus): Promise<JournalRow[]> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    await this.#before;
    while (this.#writing.size > 0) await Promise.all(this.#writing);
    const unfinished =
      status === "Completed"
        ? []
        : [...this.#abandoned.values()].map((started) =>
            this.#ended(started, unfinishedChange(started.row, status)),
          );
    if (status !== "Completed") this.totals.stepsExecuted += this.#past.openSteps.size;
    return this.#complete([...this.#waiting.splice(0), ...unfinished]);
  }

  // Adds the skipped steps in their place, and numbers the events. The rows must be written next.
  #complete(rows: JournalRow[]): JournalRow[] {
    const all = [...rows];
    for (const { row, behind } of this.#skipped.splice(0).reverse()) all.splice(behind, 0, row);
    for (const row of all) {
      if (isStep(row) && row.status === "Skipped") row.sequence = this.numbers.nextSequence();
      this.numbers.numberEvents(row);
    }
    return all;
  }

  /** Resolves also if a write failed. */
  async settled(): Promise<void> {
    this.#send();
    await Promise.allSettled([this.#before]);
    while (this.#writing.size > 0) {
      const writing = [...this.#writing];
      await Promise.allSettled(writing);
      for (const written of writing) this.#writing.delete(written);
    }
  }

  /** Resolves when another worker may continue the run. Throws WorkerLost. */
  async committed(): Promise<void> {
    await this.#before;
    this.#send();
    if (this.#skipped.length > 0) void this.#write(this.#takeWaiting());
    await this.#rowsCommitted();
  }

  async #rowsCommitted(): Promise<void> {
    this.#send();
    while (this.#writing.size > 0) await Promise.all(this.#writing);
  }

  async #readyToAct(): Promise<void> {
    await this.#worker.waitForTurn(this.#run.orgId);
    await pauseAt("act:before");
    await this.#worker.confirm();
  }

  async beginCall(call: NewCall): Promise<StartedCall> {
    await this.#rowsCommitted();
    await this.#readyToAct();
    const now = this.#services.clock.now();
    return this.#begin(newCallRow(this.#run, call, now), now);
  }

  /** A step without side effects can be repeated with the uncommitted work before it, and is committed with it. */
  async beginStep(step: NewStep): Promise<StartedStep> {
    if (step.hasSideEffects) await this.#rowsCommitted();
    await this.#readyToAct();
    const { openSteps } = this.#past;
    // A step that an earlier worker started keeps its start.
    const startedAt = openSteps.get(step.key) ?? this.#services.clock.now();
    openSteps.set(step.key, startedAt);
    const row = newStepRow(this.#run, step, startedAt);
    row.started_event = this.numbers.startedEvent(step.key);
    return this.#begin(row, startedAt);
  }

  #begin<Row extends JournalRow>(row: Row, startedAt: Date): Started<Row> {
    this.#open += 1;
    this.#abandoned.delete(row.key);
    const attempts = [...(this.#past.interrupted.get(row.key) ?? [])];
    if (attempts.length > 0) row.attempts = JSON.stringify(attempts);
    const show = () => this.#show(row, attempts);
    return { row, startedAt: startedAt.getTime(), attempts, timer: setTimeout(show, SHOW_STARTED_AFTER_MS) };
  }

  showProgress(
    started: StartedCall | StartedStep,
    change: { attempts?: Attempt[]; content?: string } = {},
  ): void {
    clearTimeout(started.timer);
    if (change.content !== undefined && "content" in started.row) started.row.content = change.content;
    this.#show(started.row, change.attempts);
  }

  #show(row: JournalRow, attempts?: Attempt[]): void {
    if (attempts) row.attempts = JSON.stringify(attempts);
    // What waits comes first, so that events are committed in order.
    const before = this.#takeWaiting();
    this.numbers.numberEvents(row);
    void this.#write([...before, { ...row, sequence: this.numbers.nextSequence() }]);
  }

  finishCall(started: StartedCall, result: CallResult): void {
    const change = callChange(started.row, result);
    this.#finish(started, change);
    addTokens(this.totals, { inputTokens: change.input_tokens, outputTokens: change.output_tokens });
    this.totals.creditsUsed = this.totals.creditsUsed.add(result.credits);
    if ("reply" in result) {
      this.calls.set(started.row.key, result.reply);
      this.bytes.addAnswer(result.reply);
    }
  }

  finishStep(started: StartedStep, result: StepResult): FinishedStep {
    this.#finish(started, stepChange(result));
    this.#services.metrics.observeStep(started.row.tool_name, started.row.duration_ms ?? 0);
    this.totals.stepsExecuted += 1;
    this.totals.actionsUsed += result.actions;
    this.totals.creditsUsed = this.totals.creditsUsed.add(result.credits);
    const finished = { output: result.output, failed: result.error !== null };
    this.bytes.addOutput(result.output);
    this.steps.set(started.row.key, finished);
    return finished;
  }

  skipStep({ key, toolName, input }: Pick<NewStep, "key" | "toolName" | "input">): void {
    if (this.#past.skipped.has(key)) return;
    this.#past.skipped.add(key);
    const now = this.#services.clock.now();
    const usage = { inputTokens: 0, outputTokens: 0 };
    const step = {
      key,
      toolName,
      input,
      stepNumber: this.numbers.stepNumber(key),
      iteration: 1,
      reasoning: "",
      usage,
    };
    const row: StepRow = {
      ...newStepRow(this.#run, { ...step, hasSideEffects: false }, now),
      status: "Skipped",
      // What expressions see as the step's output.
      output: "null",
      finished_at: now.toISOString(),
      duration_ms: 0,
    };
    this.#skipped.push({ row, behind: this.#waiting.length });
  }

  get hasProgressed(): boolean {
    return this.#hasProgressed;
  }

  abandon(started: StartedCall | StartedStep): void {
    clearTimeout(started.timer);
    this.#open -= 1;
    this.#abandoned.set(started.row.key, started);
  }

  #finish(started: StartedCall | StartedStep, change: Partial<JournalRow>): void {
    clearTimeout(started.timer);
    this.#open -= 1;
    this.#hasProgressed = true;
    this.#past.openSteps.delete(started.row.key);
    this.#waiting.push(this.#ended(started, change));
    // With others in progress, the run's end is not next.
    if (this.#open > 0) this.#send();
    else this.#timer ??= setTimeout(() => this.#send(), JOIN_END_WITHIN_MS);
  }

  #ended(started: StartedCall | StartedStep, change: Partial<JournalRow>): JournalRow {
    const duration = Math.max(0, this.#services.clock.now().getTime() - started.startedAt);
    const row: JournalRow = Object.assign(started.row, change);
    row.attempts = JSON.stringify(started.attempts);
    row.finished_at = new Date(started.startedAt + duration).toISOString();
    row.duration_ms = duration;
    row.sequence = this.numbers.nextSequence();
    return row;
  }

  #send(): void {
    if (this.#waiting.length > 0) void this.#write(this.#takeWaiting());
  }

  #takeWaiting(): JournalRow[] {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    return this.#complete(this.#waiting.splice(0));
  }

  // Writes complete rows. The next `committed` throws a failure.
  #write(rows: JournalRow[]): Promise<void> {
    const written = Promise.all(rows.map((row) => this.#worker.journal.row(row))).then(() =>
      notifyRunChanged(this.#services, this.#run, this.numbers.sequence),
    );
    this.#writing.add(written);
    written.then(() => this.#writing.delete(written)).catch(() => {});
    return written.catch(() => {});
  }
}
