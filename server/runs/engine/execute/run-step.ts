import type { FinishedStep } from "../write/journal-contents";
import type { StepName } from "./durable-steps";
import type { Execution } from "./execution";

type Call = { key: string; name: string };

/** Executes a call that has no finished row as a durable step. */
export function runStep(
  execution: Execution,
  call: Call,
  work: () => Promise<FinishedStep>,
): Promise<FinishedStep> {
  return execution.steps.run(nameStep(execution, call), work, ({ output, failed }) => ({
    status: failed ? "Failed" : "Completed",
    bytes: Buffer.byteLength(output),
  }));
}

/** Executes works in parallel as one durable step: an Inngest server would execute parallel steps in several calls. */
export function forkAsStep<T>(
  execution: Execution,
  call: Call,
  works: readonly (() => Promise<T>)[],
): Promise<T[]> {
  const fork = () => execution.branches.fork(works);
  if (works.length < 2) return fork();
  return execution.steps.run(nameStep(execution, call), fork, () => ({ status: "Completed", bytes: 0 }));
}

/**
 * Names a call as a step. Each claim gives another id, so that the rows alone decide whether the call has finished.
 * A child run's names begin with the runs that lead to it.
 */
export function nameStep({ run, path }: Pick<Execution, "run" | "path">, { key, name }: Call): StepName {
  const id = `${key}@${run.epoch}`;
  return path === "" ? { id, name } : { id: `${run.id}:${id}`, name: `${path} · ${name}` };
}
