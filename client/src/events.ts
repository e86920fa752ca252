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

/** The step, of a run further up, that called a run. */
export type PathPart = { stepNumber: number } & (
  | { agentRunId: string; toolRunId?: never }
  | { toolRunId: string; agentRunId?: never }
);

type WithPath<Event> = Event extends { id: infer Id; type: infer Type; data: infer Data }
  ? { id: Id extends null ? null : string; type: Type; data: Data; path: PathPart[] }
  : never;

/**
 * An event of a run, or of a run that it calls: \`path\` leads from the run to that one, and is empty for the run itself.
 * The ids are texts such as \`12(7.1:5)\`, to continue after.
 */
export type TreeEvent = WithPath<RunEvent<Schemas["AgentRun"] | Schemas["ToolRun"]>>;

const LAST_EVENTS = ["run.completed", "run.failed", "run.cancelled"];

/** The end of a called run is not the last event. */
export const isLastEvent = ({ type, path = [] }: { type: string; path?: PathPart[] }) =>
  path.length === 0 && LAST_EVENTS.includes(type);

type AnyEvent = { type: string; data: unknown; path?: PathPart[] };
type TextEvent = { type: "text.delta" | "text.reset"; data: { iteration: number; text?: string } };

const isText = (event: AnyEvent): event is AnyEvent & TextEvent =>
  event.type === "text.delta" || event.type === "text.reset";

/** The texts that a reader has of a run and of the runs that it calls. */
export class TextsProgress {
  readonly #runs = new Map<string, TextProgress>();

  reconnect(): void {
    for (const run of this.#runs.values()) run.reconnect();
  }

  /** The events to pass on instead of \`event\`. */
  pass<Event extends AnyEvent>(event: Event): Event[] {
    const of = JSON.stringify(event.path ?? []);
    if (LAST_EVENTS.includes(event.type)) this.#runs.delete(of);
    if (!isText(event)) return [event];
    const known = this.#runs.get(of) ?? new TextProgress();
    this.#runs.set(of, known);
    return known.pass(event);
  }
}

/**
 * The text that a reader has of one run. A new connection sends an iteration's text from its start; what the reader has
 * already is left out.
 */
class TextProgress {
  #iteration = 0;
  #text = "";
  #isRepeated = false;

  reconnect(): void {
    this.#isRepeated = this.#text !== "";
  }

  pass<Event extends AnyEvent & TextEvent>(event: Event): Event[] {
    const { iteration, text = "" } = event.data;
    if (event.type === "text.reset" || iteration !== this.#iteration) this.#start(iteration);
    if (event.type === "text.reset") return [event];
    const known = this.#text;
    const isRepeated = this.#isRepeated;
    this.#isRepeated = false;
    if (!isRepeated) {
      this.#text += text;
      return [event];
    }
    this.#text = text;
    if (!text.startsWith(known)) return [{ ...event, type: "text.reset", data: { iteration } }, event];
    const added = text.slice(known.length);
    return added === "" ? [] : [{ ...event, data: { iteration, text: added } }];
  }

  #start(iteration: number): void {
    this.#iteration = iteration;
    this.#text = "";
    this.#isRepeated = false;
  }
}
