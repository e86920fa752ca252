import type { FinishedStep } from "../write/journal";
import type { Execution } from "./execution";
import { YieldSlot } from "./interruptions";

/** A step of the durable function that executes a run: `id` is unique in the root run, `name` is for people. */
export type StepName = { id: string; name: string };

/** What a durable engine keeps of a step. Its contents are in the run's rows. */
export type StepReference = { status: "Completed" | "Failed"; bytes: number };

/** The step tools of the durable function: an Inngest server's, or none but the run's journal. */
export type DurableSteps = {
  /** Executes an act as a step. Acts within another act, also in parallel, belong to its step. */
  run<T>(step: StepName, act: () => Promise<T>, refer: (result: T) => StepReference): Promise<T>;
  /** Called before each act. Throws CallOver if the call that executes the run must end first. */
  checkpoint(): void;
};

/** The server's call must end before the run's next act. Its next call continues the run. */
export class CallOver extends YieldSlot {
  override name = "CallOver";

  constructor() {
    super("the call is over");
  }
}

/** Identifies an act, and says what it does. */
type Act = { key: string; name: string };

/** Executes a call that has no finished row as a durable step. */
export function runStep(
  execution: Execution,
  act: Act,
  work: () => Promise<FinishedStep>,
): Promise<FinishedStep> {
  return execution.steps.run(nameStep(execution, act), work, ({ output, failed }) => ({
    status: failed ? "Failed" : "Completed",
    bytes: Buffer.byteLength(output),
  }));
}

/** Executes works in parallel as one durable step: an Inngest server would execute parallel steps in several calls. */
export function forkAsStep<T>(
  execution: Execution,
  act: Act,
  works: readonly (() => Promise<T>)[],
): Promise<T[]> {
  const fork = () => execution.strands.fork(works);
  if (works.length < 2) return fork();
  return execution.steps.run(nameStep(execution, act), fork, () => ({ status: "Completed", bytes: 0 }));
}

/**
 * The name of an act as a step. Each claim gives it another id, so that the rows alone decide whether it has finished. In
 * a child run, the name begins with the runs that lead to it.
 */
export function nameStep({ run, path }: Pick<Execution, "run" | "path">, { key, name }: Act): StepName {
  const id = `${key}@${run.epoch}`;
  return path === "" ? { id, name } : { id: `${run.id}:${id}`, name: `${path} · ${name}` };
}
