import { useEffect, useReducer, useRef } from "react";

/**
 * Returns a function that renders again, then focuses the first element of a CSS selector. The element that had the
 * focus may be removed by then. Null: leaves the focus.
 */
export function useFocusAfterRender(): (selector: string | null) => void {
  const focusNext = useRef<string | null>(null);
  const [, render] = useReducer((count: number) => count + 1, 0);
  useEffect(() => {
    if (focusNext.current === null) return;
    const found = [...document.querySelectorAll<HTMLElement>(focusNext.current)];
    // An editor replaces the plain field beside it.
    const next = found.find((each) => each.isContentEditable) ?? found[0];
    for (let around = next?.closest("details"); around; around = around.parentElement?.closest("details"))
      around.open = true;
    next?.focus();
    focusNext.current = null;
  });
  return (selector) => {
    focusNext.current = selector;
    render();
  };
}
