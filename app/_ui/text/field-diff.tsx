import { useMemo } from "react";
import type { FieldChange } from "@/server/work/agent/field-changes";
import { type DiffLine, diffLines, nearChanges } from "./diff";
import { DiffLines } from "./diff-lines";

const WORDS = { left: "removed", right: "added" };

export function FieldDiff({ change }: { change: FieldChange }) {
  const lines = useMemo(() => compare(change), [change]);
  return (
    <div>
      <h3 className="pb-0.5 text-muted text-xs">{change.field}</h3>
      {lines ? (
        <DiffLines label={`Changes of ${change.field}`} lines={lines} words={WORDS} />
      ) : (
        <p>Rewritten: the versions have too little in common for a comparison by lines.</p>
      )}
    </div>
  );
}

function compare({ from, to }: FieldChange): (DiffLine | null)[] | null {
  if (from !== null && to !== null) {
    const lines = diffLines(from, to);
    return lines && nearChanges(lines);
  }
  const kind = to === null ? "left" : "right";
  return nearChanges((to ?? from ?? "").split("\n").map((text) => ({ kind, text })));
}
