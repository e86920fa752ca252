import { useEffectEvent, useLayoutEffect } from "react";

function isPageKey(event: KeyboardEvent): boolean {
  if (event.metaKey || event.ctrlKey || event.altKey || event.isComposing || event.defaultPrevented)
    return false;
  const target = event.target instanceof HTMLElement ? event.target : null;
  return !target?.closest(
    "input:not([type=radio]):not([type=checkbox]), textarea, select, [contenteditable], [role=menu], [role=dialog]",
  );
}

type Act = (event: KeyboardEvent) => unknown;

/** The page's keyboard shortcuts while the component is mounted, by `KeyboardEvent.key`. */
export function usePageKeys(keys: Record<string, Act>): void {
  const press = useEffectEvent((event: KeyboardEvent) => {
    const act = Object.hasOwn(keys, event.key) ? keys[event.key] : undefined;
    if (act && isPageKey(event) && act(event) !== false) event.preventDefault();
  });
  // A layout effect: other effects may run only after the page is visible, and would miss an early key.
  useLayoutEffect(() => {
    const onKey = (event: KeyboardEvent) => press(event);
    window.addEventListener("keydown", onKey);
    return () => window.removeEventListener("keydown", onKey);
  }, []);
}
