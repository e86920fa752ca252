import type { Schemas } from "./types.js";

/** The events of a run, as docs/api.md lists them. `id` is null for the texts, which are not stored. */

type Numbered<Type extends string, Data> = { id: number; type: Type; data: Data };
type Text<Type extends string, Data> = { id: null; type: Type; data: Data };

export type EventStep = Schemas["AgentRunStep"] & {
  status: "Completed" | "Failed" | "Skipped";
  errorMessage: string | null;
};

export type RunEvent<Status> =
  | Numbered<"snapshot", Status & { steps: EventStep[] }>
  | Numbered<"run.running", { startedAt: string }>
  | Numbered<"run.waiting", { reason: string; until: string | null }>
  | Numbered<
      "step.started",
      Pick<EventStep, "stepNumber" | "iterationNumber" | "toolName" | "inputData"> & { startedAt: string }
    >
  | Numbered<"step.completed", EventStep>
  | Text<"text.delta", { iteration: number; text: string }>
  | Text<"text.reset", { iteration: number }>
  | Numbered<"run.completed" | "run.failed" | "run.cancelled", Status>;

const LAST_EVENTS = ["run.completed", "run.failed", "run.cancelled"];

export const isLastEvent = ({ type }: { type: string }) => LAST_EVENTS.includes(type);

/**
 * The texts that a reader has. A new connection sends an iteration's text from its start; `continueText` leaves out
 * what the reader has already.
 */
export class TextProgress {
  #iteration = 0;
  #text = "";
  #isRepeated = false;

  reconnect(): void {
    this.#isRepeated = this.#text !== "";
  }

  /** The events to pass on instead of `event`. */
  pass<Status>(event: RunEvent<Status>): RunEvent<Status>[] {
    if (event.type === "text.reset") this.#start(event.data.iteration);
    if (event.type !== "text.delta") return [event];
    const { iteration, text } = event.data;
    if (iteration !== this.#iteration) this.#start(iteration);
    const known = this.#text;
    const isRepeated = this.#isRepeated;
    this.#isRepeated = false;
    if (!isRepeated) {
      this.#text += text;
      return [event];
    }
    this.#text = text;
    if (!text.startsWith(known)) return [{ id: null, type: "text.reset", data: { iteration } }, event];
    const added = text.slice(known.length);
    return added === "" ? [] : [{ ...event, data: { iteration, text: added } }];
  }

  #start(iteration: number): void {
    this.#iteration = iteration;
    this.#text = "";
    this.#isRepeated = false;
  }
}
