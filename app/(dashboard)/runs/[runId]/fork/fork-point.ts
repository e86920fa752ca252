import type { RunDetail } from "@/server/runs/read/inspect/inspect";
import type { StepLine } from "@/server/runs/read/inspect/lines";
import type { WorkLine } from "../lines";

/** The place where a fork begins: `fromStep` of the contract. */
export type ForkPoint = {
  fromStep: number;
  /** The step itself, whose input or output can be changed; null for a model call. */
  step: StepLine | null;
  name: string;
};

export type ForkDialogProps = {
  run: RunDetail;
  point: ForkPoint;
  own: readonly WorkLine[];
  onClose: () => void;
};

/** A fork from a model call begins at the first step that it or a later one asked for, or behind the last step. */
export function forkPointOf(line: WorkLine, own: readonly WorkLine[]): ForkPoint {
  if (line.kind === "step") {
    const { step, label } = line;
    const isExecuted = step.status !== "Skipped";
    return { fromStep: step.number, step: isExecuted ? step : null, name: `step ${step.number}, ${label}` };
  }
  const steps = own.flatMap((each) => (each.kind === "step" ? [each.step] : []));
  const { call, label } = line;
  const holder = steps.find(({ key }) => call.key.startsWith(`${key}/`));
  const first = holder ?? steps.find(({ iteration }) => iteration >= call.iteration);
  const behind = (steps.at(-1)?.number ?? 0) + 1;
  return { fromStep: first?.number ?? behind, step: null, name: label.toLowerCase() };
}
