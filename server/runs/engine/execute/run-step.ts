import type { FinishedStep } from "../write/journal-contents";
import type { StepName } from "./durable-steps";
import type { Execution } from "./execution";

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
  const fork = () => execution.branches.fork(works);
  if (works.length < 2) return fork();
  return execution.steps.run(nameStep(execution, act), fork, () => ({ status: "Completed", bytes: 0 }));
}

/**
 * Names an act as a step. Each claim gives another id, so that the rows alone decide whether the act has finished.
 * A child run's names begin with the runs that lead to it.
 */
export function nameStep({ run, path }: Pick<Execution, "run" | "path">, { key, name }: Act): StepName {
  const id = `${key}@${run.epoch}`;
  return path === "" ? { id, name } : { id: `${run.id}:${id}`, name: `${path} · ${name}` };
}
