import { useState } from "react";

/**
 * The renames of steps since the editor opened. A run keeps the names that it started with: `marks` has the number of
 * renames before its start. Other runs started before all of them.
 */
export type Renames = {
  entries: readonly { from: string; to: string }[];
  marks: ReadonlyMap<string, number>;
  /** Entries before it are final. A name in typing replaces the last one after it. */
  final: number;
};

export const NO_RENAMES: Renames = { entries: [], marks: new Map(), final: 0 };

export function addRename(renames: Renames, from: string, to: string): Renames {
  const { entries, final } = renames;
  const last = entries.at(-1);
  const continues = entries.length > final && last?.to === from;
  const entry = { from: continues ? last.from : from, to };
  return { ...renames, entries: [...(continues ? entries.slice(0, -1) : entries), entry] };
}

/** The present name of a step that a run knows as `step`. */
export function presentName({ entries, marks }: Renames, runId: string, step: string): string {
  return entries
    .slice(marks.get(runId) ?? 0)
    .reduce((name, { from, to }) => (name === from ? to : name), step);
}

export function useRenames() {
  const [renames, setRenames] = useState(NO_RENAMES);
  const count = renames.entries.length;
  return {
    renames,
    add: (from: string, to: string) => setRenames((before) => addRename(before, from, to)),
    /** Call it when a run starts, and the result with the run's id. */
    mark() {
      setRenames((before) => ({ ...before, final: count }));
      return (runId: string) =>
        setRenames((before) => ({ ...before, marks: new Map(before.marks).set(runId, count) }));
    },
  };
}

export type RenameState = ReturnType<typeof useRenames>;
