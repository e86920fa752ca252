import { type RefObject, useState } from "react";
import { lazy } from "@/app/_ui/lazy";
import { usePageKeys } from "@/app/_ui/page/page-keys";
import type { Workbench } from "../use-workbench";

const KeysDialog = lazy(() => import("./keys-dialog"), "KeysDialog");

const WITH_ARROWS = "input, [role=tablist], [role=listbox], [role=tree], [role=dialog], [data-arrows-scroll]";

function usesArrows(target: HTMLElement): boolean {
  if (target.closest(WITH_ARROWS)) return true;
  for (let box: HTMLElement | null = target; box && box !== document.body; box = box.parentElement) {
    if (box.scrollHeight > box.clientHeight && /auto|scroll/.test(getComputedStyle(box).overflowY))
      return true;
  }
  return false;
}

/**
 * Handles the page's shortcuts, except in text fields and menus; `?` lists them.
 * @returns the list of shortcuts while it is open
 */
export function useTimelineKeys(bench: Workbench, field: RefObject<HTMLInputElement | null>) {
  const { move, onlyFailed, setFailedOnly, failedCount, setMeasure, zoom, setRange, toggleAll } = bench;
  const [help, setHelp] = useState(false);
  const arrow = (by: number) => (event: KeyboardEvent) => {
    if (event.target instanceof HTMLElement && usesArrows(event.target)) return false;
    return move(by);
  };
  const showAll = () => setRange(null);
  usePageKeys({
    j: () => move(1),
    k: () => move(-1),
    ArrowDown: arrow(1),
    ArrowUp: arrow(-1),
    "/": () => field.current?.focus(),
    f: () => setFailedOnly(!onlyFailed && failedCount > 0),
    t: () => setMeasure("time"),
    c: () => setMeasure("credits"),
    z: zoom,
    o: toggleAll,
    Z: showAll,
    Escape: showAll,
    "?": () => setHelp(true),
  });
  return help ? <KeysDialog onClose={() => setHelp(false)} /> : null;
}
