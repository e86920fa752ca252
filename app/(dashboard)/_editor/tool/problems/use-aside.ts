import { useState } from "react";
import type { Inputs } from "./set-aside";

const NOTHING: Inputs = {};

export type AsideInputs = {
  of: (id: string) => Inputs;
  set: (id: string, inputs: Inputs) => void;
  rename: (from: string, to: string) => void;
};

/** The inputs that were set aside, by step id. */
export function useAside(): AsideInputs {
  const [all, setAll] = useState<ReadonlyMap<string, Inputs>>(new Map());
  return {
    of: (id) => all.get(id) ?? NOTHING,
    set: (id, inputs) => setAll((before) => new Map(before).set(id, inputs)),
    rename: (from, to) =>
      setAll((before) => {
        const { [from]: moved, ...others } = Object.fromEntries(before);
        return moved === undefined ? before : new Map(Object.entries({ ...others, [to]: moved }));
      }),
  };
}
