/** A step of the durable function that executes a run: `id` is unique in the root run, `name` is for people. */
export type StepName = { id: string; name: string };

/** The part of a step that a durable engine keeps. Its contents are in the run's rows. */
export type StepReference = { status: "Completed" | "Failed"; bytes: number };

/** The step tools of the durable function: an Inngest server's, or none but the run's journal. */
export type DurableSteps = {
  /** Work within a step, also in parallel, belongs to that step. */
  run<T>(step: StepName, work: () => Promise<T>, refer: (result: T) => StepReference): Promise<T>;
  /**
   * Called before each step. Throws YieldSlot if the call that executes the run must end first. `hasProgressed`: the
   * call has finished a step.
   */
  checkpoint(hasProgressed: boolean): void;
};
