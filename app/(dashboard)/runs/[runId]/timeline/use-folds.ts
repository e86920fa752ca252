"use client";

import { useState } from "react";
import { type Line, lineId } from "../lines";
import { foldedAtFirst, holdersOf } from "./line-folds";

export type Folds = {
  folded: ReadonlySet<string>;
  fold: (line: Line, folded: boolean) => void;
  /** Collapses all lines, or expands all if any is collapsed. */
  toggleAll: () => void;
};

/**
 * Which lines are collapsed. Decided when the page opens, then by the reader alone. Selecting a hidden line expands its
 * ancestors; collapsing an ancestor of the selected line selects the ancestor.
 */
export function useFolds(lines: Line[], chosen: Line | null, onChoose: (line: Line) => void): Folds {
  const [folded, setFolded] = useState(() => foldedAtFirst(lines));
  const [seenId, setSeenId] = useState<string | null>(null);
  const chosenId = chosen ? lineId(chosen) : null;
  if (chosenId !== seenId) {
    setSeenId(chosenId);
    const over = new Set(chosenId === null ? [] : holdersOf(lines, chosenId).map(lineId));
    const left = [...folded].filter((id) => !over.has(id));
    if (left.length < folded.size) setFolded(new Set(left));
  }
  return {
    folded,
    fold: (line, fold) => {
      const id = lineId(line);
      setFolded(new Set(fold ? [...folded, id] : [...folded].filter((each) => each !== id)));
      if (fold && chosenId && holdersOf(lines, chosenId).some((each) => lineId(each) === id)) onChoose(line);
    },
    toggleAll: () => {
      const all = lines.filter(({ holds }) => holds).map(lineId);
      const fold = !all.some((id) => folded.has(id));
      setFolded(new Set(fold ? all : []));
      const [outermost] = fold && chosenId ? holdersOf(lines, chosenId) : [];
      if (outermost) onChoose(outermost);
    },
  };
}
