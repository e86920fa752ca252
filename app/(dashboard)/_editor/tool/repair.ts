import { isScalar } from "yaml";
import type { ShownProblem } from "./problem-sentence";
import { edit, setValue } from "./tool-document";

/** The text with a problem settled. One whose value was changed since it was checked stays as it is. */
export function repairProblem(text: string, { path, repair }: Pick<ShownProblem, "path" | "repair">): string {
  if (repair === undefined) return text;
  const { change } = repair;
  if (change === "remove") return setValue(text, path, undefined);
  return edit(text, (document) => {
    const node: unknown = document.getIn(path, true);
    if (isScalar(node) && node.value === change.from) node.value = change.to;
  });
}
