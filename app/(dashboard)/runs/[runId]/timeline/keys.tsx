"use client";

import { useState } from "react";
import { lazy } from "@/app/_ui/lazy";
import { usePageKeys } from "@/app/_ui/page/page-keys";

const KeysDialog = lazy(() => import("./keys-dialog"), "KeysDialog");

/** Keyboard shortcuts of a run's page, except in text fields and menus. */
export type TimelineKeys = {
  step: (by: 1 | -1) => void;
  find: () => void;
  failedOnly: () => void;
  measure: (measure: "time" | "credits") => void;
  zoom: () => void;
  showAll: () => void;
  foldAll: () => void;
};

/** Elements that use the arrow keys themselves. */
const WITH_ARROWS = "input, [role=tablist], [role=listbox], [role=tree], [role=dialog], [data-arrows-scroll]";

/**
 * Whether the arrow keys belong to the focused element: a choice, something that scrolls, or the texts, where they
 * scroll the page.
 */
function usesArrows(target: HTMLElement): boolean {
  if (target.closest(WITH_ARROWS)) return true;
  for (let box: HTMLElement | null = target; box && box !== document.body; box = box.parentElement) {
    if (box.scrollHeight > box.clientHeight && /auto|scroll/.test(getComputedStyle(box).overflowY))
      return true;
  }
  return false;
}

/** Handles the page's shortcuts; `?` lists them. */
export function TimelineKeyboard({ keys }: { keys: TimelineKeys }) {
  const [help, setHelp] = useState(false);
  const step = (by: 1 | -1) => () => keys.step(by);
  const arrow = (by: 1 | -1) => (event: KeyboardEvent) => {
    if (event.target instanceof HTMLElement && usesArrows(event.target)) return false;
    return keys.step(by);
  };
  usePageKeys({
    j: step(1),
    k: step(-1),
    ArrowDown: arrow(1),
    ArrowUp: arrow(-1),
    "/": keys.find,
    f: keys.failedOnly,
    t: () => keys.measure("time"),
    c: () => keys.measure("credits"),
    z: keys.zoom,
    o: keys.foldAll,
    Z: keys.showAll,
    Escape: keys.showAll,
    "?": () => setHelp(true),
  });
  return help ? <KeysDialog onClose={() => setHelp(false)} /> : null;
}
