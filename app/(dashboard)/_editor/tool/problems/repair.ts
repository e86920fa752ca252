import { type Document, isMap, isScalar } from "yaml";
import { edit, type Path, setValue } from "../tool-document";
import type { ShownProblem } from "./problem-sentence";

/** The text with a problem settled. One whose value was changed since it was checked stays as it is. */
export function repairProblem(text: string, { path, repair }: Pick<ShownProblem, "path" | "repair">): string {
  if (repair === undefined) return text;
  const { change } = repair;
  if (change === "remove") return setValue(text, path, undefined);
  if ("rename" in change) return edit(text, (document) => renameKey(document, path, change.rename));
  return edit(text, (document) => {
    const node: unknown = document.getIn(path, true);
    if (isScalar(node) && node.value === change.from) node.value = change.to;
  });
}

/** A key that was written since stays. */
function renameKey(document: Document, path: Path, to: string): void {
  const map: unknown = document.getIn(path.slice(0, -1), true);
  if (!isMap(map) || map.has(to)) return;
  const found = map.items.find(({ key }) => isScalar(key) && key.value === path.at(-1));
  if (isScalar(found?.key)) found.key.value = to;
}
