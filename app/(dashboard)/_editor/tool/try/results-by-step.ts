import { innerIdsOf, type StepView } from "../tool-document";

type Call = { step: { key: string } };

/** The calls of a run by the step that made them: the items of a `forEach` and the steps of a group belong together. */
export function groupByStep<Each extends Call>(
  calls: readonly Each[],
  steps: readonly Pick<StepView, "id" | "fields">[],
): { id: string; lines: Each[] }[] {
  const outer = new Map(steps.flatMap((step) => innerIdsOf(step).map((inner) => [inner, step.id])));
  const groups = new Map<string, Each[]>();
  for (const call of calls) {
    const key = call.step.key.replace(/\[\d+\]$/, "");
    const id = outer.get(key) ?? key;
    const group = groups.get(id);
    if (group === undefined) groups.set(id, [call]);
    else group.push(call);
  }
  return [...groups].map(([id, lines]) => ({ id, lines }));
}
