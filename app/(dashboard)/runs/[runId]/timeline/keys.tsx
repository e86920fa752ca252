"use client";

import { type RefObject, useLayoutEffect, useState } from "react";
import { lazy } from "@/app/_ui/lazy";

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
export function TimelineKeyboard({ keys }: { keys: RefObject<TimelineKeys> }) {
  const [help, setHelp] = useState(false);
  useLayoutEffect(() => {
    const does = new Map<string, () => void>([
      ["j", () => keys.current.step(1)],
      ["k", () => keys.current.step(-1)],
      ["ArrowDown", () => keys.current.step(1)],
      ["ArrowUp", () => keys.current.step(-1)],
      ["/", () => keys.current.find()],
      ["f", () => keys.current.failedOnly()],
      ["t", () => keys.current.measure("time")],
      ["c", () => keys.current.measure("credits")],
      ["z", () => keys.current.zoom()],
      ["o", () => keys.current.foldAll()],
      ["Z", () => keys.current.showAll()],
      ["Escape", () => keys.current.showAll()],
      ["?", () => setHelp(true)],
    ]);
    function onKey(event: KeyboardEvent) {
      if (event.metaKey || event.ctrlKey || event.altKey || event.isComposing || event.defaultPrevented)
        return;
      const target = event.target instanceof HTMLElement ? event.target : null;
      const typing =
        "input:not([type=radio]):not([type=checkbox]), textarea, select, [contenteditable], [role=menu], [role=dialog]";
      if (target?.closest(typing)) return;
      if (event.key.startsWith("Arrow") && target && usesArrows(target)) return;
      const act = does.get(event.key);
      if (!act) return;
      event.preventDefault();
      act();
    }
    window.addEventListener("keydown", onKey);
    return () => window.removeEventListener("keydown", onKey);
  }, [keys]);
  return help ? <KeysDialog onClose={() => setHelp(false)} /> : null;
}
