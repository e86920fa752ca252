import { useEffectEvent, useLayoutEffect } from "react";
import { useBrowserValue } from "@/app/_ui/data/store";

const SWITCH = "stepwell.single-keys";

function areSingleKeysOn(): boolean {
  return localStorage.getItem(SWITCH) !== "off";
}

/** Returns false if this browser's reader has switched off shortcuts that are one character. */
export function useSingleKeys(): boolean {
  return useBrowserValue(areSingleKeysOn, true);
}

/** Switches them on or off for all pages in this browser. */
export function chooseSingleKeys(on: boolean): void {
  if (on) localStorage.removeItem(SWITCH);
  else localStorage.setItem(SWITCH, "off");
}

/** A shortcut to add to a title: ` (f)`; empty if it is switched off. */
export function useKeyHint(key: string): string {
  return useSingleKeys() ? ` (${key})` : "";
}

function isPageKey(event: KeyboardEvent): boolean {
  if (event.metaKey || event.ctrlKey || event.altKey || event.isComposing || event.defaultPrevented)
    return false;
  const target = event.target instanceof HTMLElement ? event.target : null;
  return !target?.closest(
    "input:not([type=radio]):not([type=checkbox]), textarea, select, [contenteditable], [role=menu], [role=dialog]",
  );
}

type KeyAction = (event: KeyboardEvent) => unknown;

/** The page's keyboard shortcuts while the component is mounted, by `KeyboardEvent.key`. */
export function usePageKeys(keys: Record<string, KeyAction>): void {
  const press = useEffectEvent((event: KeyboardEvent) => {
    const action = Object.hasOwn(keys, event.key) ? keys[event.key] : undefined;
    if (event.key.length === 1 && !areSingleKeysOn()) return;
    if (action && isPageKey(event) && action(event) !== false) event.preventDefault();
  });
  // A layout effect: other effects may run only after the page is visible, and would miss an early key.
  useLayoutEffect(() => {
    const onKey = (event: KeyboardEvent) => press(event);
    window.addEventListener("keydown", onKey);
    return () => window.removeEventListener("keydown", onKey);
  }, []);
}
