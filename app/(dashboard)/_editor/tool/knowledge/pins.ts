import { useContext, useEffect, useState } from "react";
import { draftKey } from "@/app/_ui/data/browser-storage";
import { OrganizationContext } from "@/app/_ui/data/page-organization";
import { isJsonObject, tryParseJson, writeJson } from "@/server/base/json/json";

/** A step's output in a run. `step`: the step's id in that run. */
export type Pin = { runId: string; step: string };

/** Pinned outputs by step id. Test runs use them instead of calling the steps. */
export type Pins = ReadonlyMap<string, Pin>;

/** The pinned outputs of a tool's draft. The tab stores them until it is closed. */
export function usePins(toolId: string | null) {
  const key = draftKey(useContext(OrganizationContext), `pins.${toolId}`);
  const [pins, setPins] = useState<Pins>(new Map());
  // Read after hydration: the server has no pins.
  useEffect(() => setPins(readPins(sessionStorage.getItem(key))), [key]);
  function put(next: Pins) {
    setPins(next);
    try {
      sessionStorage.setItem(key, writeJson(Object.fromEntries(next)));
    } catch {
      // The browser's storage is full or switched off: the pins live as long as the page.
    }
  }
  return {
    pins,
    pin: (id: string, pin: Pin) => put(new Map(pins).set(id, pin)),
    unpin: (id: string) => put(new Map([...pins].filter(([each]) => each !== id))),
    rename: (from: string, to: string) => {
      if (pins.has(from)) put(new Map([...pins].map(([id, pin]) => [id === from ? to : id, pin])));
    },
  };
}

export type PinState = ReturnType<typeof usePins>;

export function readPins(text: string | null): Pins {
  const stored = tryParseJson(text ?? "");
  if (!isJsonObject(stored)) return new Map();
  return new Map(
    Object.entries(stored).flatMap(([id, pin]) =>
      isJsonObject(pin) && typeof pin.runId === "string" && typeof pin.step === "string"
        ? [[id, { runId: pin.runId, step: pin.step }] as const]
        : [],
    ),
  );
}

/** The outputs that a test run uses instead of calls, by step id; null: no output is known. */
export type Used = Record<string, Pin | null>;

type Steps = readonly { id: string }[];

/** The pinned outputs of the steps that a run up to `until` has; `until` itself is executed. */
export function usedUpTo(steps: Steps, pins: Pins, until: string | null): Used {
  const end = until === null ? steps.length : steps.findIndex(({ id }) => id === until);
  return Object.fromEntries(
    steps.slice(0, end).flatMap(({ id }) => {
      const pin = pins.get(id);
      return pin === undefined ? [] : [[id, pin] as const];
    }),
  );
}

/** The outputs of all steps before `only`: pinned ones, else those of the last run. */
export function usedAlone(steps: Steps, pins: Pins, { only, last }: { only: string; last: Last }): Used {
  const end = steps.findIndex(({ id }) => id === only);
  const ofLast = (id: string) =>
    last.runId === null ? null : { runId: last.runId, step: last.known.get(id) ?? id };
  return Object.fromEntries(steps.slice(0, end).map(({ id }) => [id, pins.get(id) ?? ofLast(id)] as const));
}

type Last = { runId: string | null; known: ReadonlyMap<string, string> };

/** The outputs that a test run uses, in one sentence; null if it calls all steps. */
export function describeUsed(
  used: Used,
  pins: Pins,
  nameOf: (id: string) => string = (id) => id,
): string | null {
  const ids = Object.keys(used).filter((id) => used[id] !== null);
  const isPinned = (id: string) => pins.get(id)?.runId === used[id]?.runId && pins.has(id);
  const parts = [
    { of: ids.filter(isPinned), words: "pinned: " },
    { of: ids.filter((id) => !isPinned(id)), words: "from the last run: " },
  ].flatMap(({ of, words }) => (of.length === 0 ? [] : [words + of.map(nameOf).join(", ")]));
  return parts.length === 0 ? null : `Outputs used, ${parts.join("; ")}.`;
}
