import { Moment } from "@/app/_ui/figures/time";
import type { SkipNote } from "@/server/work/workflow/skip-note";
import type { WorkLine } from "../lines";
import { InspectorFrame } from "./parts";

/** The reason why a step was skipped: its condition, the condition's value, and the values of the fields in it. */
export function SkippedInspector({ line, note }: { line: WorkLine & { kind: "step" }; note: SkipNote }) {
  const { step, label } = line;
  const values = [{ path: note.expression, value: note.value }, ...note.read];
  const hasNothing = values.some(({ value }) => value === null);
  return (
    <InspectorFrame
      facts="not executed"
      figures={[
        ["Evaluated", <Moment at={step.startedAt} key="evaluated" />],
        ["Key", step.key],
      ]}
      label={`Step ${step.number}`}
      line={line}
      status="Skipped"
      title={
        <>
          Step {step.number} · <span className="mono">{label}</span>
          <span className="mono font-normal text-muted"> {step.name}</span>
        </>
      }
    >
      <div className="flex flex-col gap-3 px-4 py-3 sm:px-6">
        <p className="text-muted">
          {note.by === "if"
            ? "Its condition (Only if) was not true, so it was not executed. Later steps see null as its output."
            : "Its list (For each) had no items, so it was not executed. Later steps see an empty list as its output."}
        </p>
        <dl className="flex flex-col divide-y divide-line border-line border-y">
          {values.map(({ path, value }, index) => (
            <div
              className="grid gap-x-4 py-1.5 sm:grid-cols-[minmax(0,2fr)_minmax(0,1fr)]"
              // biome-ignore lint/suspicious/noArrayIndexKey: the condition, then the fields in their order.
              key={index}
            >
              <dt className="mono [overflow-wrap:anywhere]">{path}</dt>
              <dd className={value === null ? "font-medium" : "mono [overflow-wrap:anywhere]"}>
                {value ?? "evaluated to nothing"}
              </dd>
            </div>
          ))}
        </dl>
        {hasNothing ? (
          <p className="text-muted">
            Nothing means that there is no field of this name. Compare it with the output of the step that it
            names.
          </p>
        ) : null}
      </div>
    </InspectorFrame>
  );
}
