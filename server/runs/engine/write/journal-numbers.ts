import { type ClaimedRun, firstEvents } from "../claimed-run";
import type { JournalContents } from "./journal-contents";
import { isStep, type JournalRow } from "./journal-rows";

/** The numbers of a run's rows, steps and events. They continue where an earlier worker ended. */
export class JournalNumbers {
  #sequence: number;
  #lastEvent: number;
  #highestStep: number;
  readonly #steps: JournalContents["stepNumbers"];
  readonly #startedEvents: JournalContents["startedEvents"];

  constructor(run: ClaimedRun, contents: JournalContents) {
    this.#sequence = Math.max(run.sequence, contents.sequence);
    this.#lastEvent = Math.max(firstEvents(run), contents.lastEvent);
    this.#steps = contents.stepNumbers;
    this.#startedEvents = contents.startedEvents;
    this.#highestStep = [...contents.stepNumbers.values()].reduce((most, one) => Math.max(most, one), 0);
  }

  get sequence(): number {
    return this.#sequence;
  }

  nextSequence(): number {
    this.#sequence += 1;
    return this.#sequence;
  }

  /** The number of the next event. Its row must be written next. */
  nextEvent(): number {
    this.#lastEvent += 1;
    return this.#lastEvent;
  }

  stepNumber(key: string): number {
    const known = this.#steps.get(key);
    if (known !== undefined) return known;
    this.#highestStep += 1;
    this.#steps.set(key, this.#highestStep);
    return this.#highestStep;
  }

  /** The number of the event that a step of an earlier attempt started with. */
  startedEvent(key: string): number | null {
    return this.#startedEvents.get(key) ?? null;
  }

  /** Numbers the events of a row. It must be written next. */
  numberEvents(row: JournalRow): void {
    if (!isStep(row)) return;
    if (row.status !== "Skipped") {
      row.started_event ??= this.nextEvent();
      this.#startedEvents.set(row.key, row.started_event);
    }
    if (row.status !== "Running") row.finished_event ??= this.nextEvent();
  }
}
