import { isMap, isSeq } from "yaml";
import { edit, freeStepId } from "./tool-document";

/**
 * Adds a step that runs beside the one at `index`: to its group, or to a new group of both. `member`: the added step's
 * position there.
 */
export function addBeside(text: string, index: number, step: object): { text: string; member: number } {
  const id = freeStepId(text, "group");
  let at = 0;
  const changed = edit(text, (document) => {
    const steps = document.get("steps");
    const beside = isSeq(steps) ? steps.items[index] : undefined;
    if (!isSeq(steps) || !isMap(beside)) return;
    const added = document.createNode(step);
    const members: unknown = beside.get("parallel");
    if (isSeq(members)) {
      at = members.items.push(added) - 1;
      return;
    }
    const group = document.createNode({ id, parallel: [null] });
    const inner: unknown = isMap(group) ? group.get("parallel") : undefined;
    if (!isSeq(inner)) return;
    inner.items = [beside, added];
    steps.items[index] = group;
    at = 1;
  });
  return { text: changed, member: at };
}
