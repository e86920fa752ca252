import clsx from "clsx";
import { useContext } from "react";
import type { StepCondition } from "@/server/runs/read/step-values";
import { describeRead } from "../../../runs/[runId]/describe-skip";
import type { StepView } from "../tool-document";
import { LastOutputsContext } from "./last-outputs";

/** The value of a step's *Only if* in the last run; null if the run did not evaluate it as it is written now. */
export function useLastCondition(step: StepView | undefined): StepCondition | null {
  const { conditions } = useContext(LastOutputsContext);
  const condition = conditions.get(step?.id ?? "");
  return condition !== undefined && condition.expression === step?.fields.if ? condition : null;
}

export function ConditionValue({ condition: { isMet, value } }: { condition: StepCondition }) {
  return (
    <span
      className={clsx("ml-auto shrink-0 font-medium", isMet ? "text-completed" : "text-muted")}
      title="In the last run"
    >
      {value ?? "nothing"}
    </span>
  );
}

/** The same, with the values of the fields in it. */
export function LastCondition({ step }: { step: StepView }) {
  const condition = useLastCondition(step);
  if (condition === null) return null;
  const read = describeRead(condition);
  return (
    <p className="mt-1 text-muted text-xs [overflow-wrap:anywhere]">
      In the last run:{" "}
      <span className={clsx("font-medium", condition.isMet ? "text-completed" : "text-ink")}>
        {condition.value ?? "nothing"}
      </span>
      {condition.isMet ? "" : ", so the step was skipped"}
      {read === "" ? "." : `; ${read}.`}
    </p>
  );
}
