"use client";

import { type RefObject, useEffect, useState } from "react";

/** Rows drawn beyond what is seen, so that a quick turn of the wheel and the arrow keys find them there. */
const BEYOND = 12;
/** Rows drawn before anything is measured; the server draws so many. */
const AT_FIRST = 60;
/** The window moves in steps of this many rows, not at every pixel. */
const STEP = 6;

/**
 * Which rows of a long list are worth drawing: those in sight, whether the list scrolls by itself or the page does.
 * @param rowHeight in pixels, the same for all rows
 * @returns the first row, and the one after the last
 */
export function useRowWindow(
  list: RefObject<HTMLElement | null>,
  count: number,
  rowHeight: number,
): { first: number; end: number } {
  const [range, setRange] = useState({ first: 0, end: AT_FIRST });
  // biome-ignore lint/correctness/useExhaustiveDependencies: more rows make the list longer without any event.
  useEffect(() => {
    let frame = 0;
    const measure = () => {
      frame = 0;
      const box = list.current;
      if (!box) return;
      const { top, bottom } = box.getBoundingClientRect();
      const from = box.scrollTop + Math.max(0, -top);
      const to = box.scrollTop + Math.min(bottom, window.innerHeight) - top;
      const first = Math.max(0, Math.floor(from / rowHeight / STEP) * STEP - BEYOND);
      const end = Math.max(first, Math.ceil(to / rowHeight / STEP) * STEP + BEYOND);
      setRange((known) => (known.first === first && known.end === end ? known : { first, end }));
    };
    const ask = () => {
      frame ||= requestAnimationFrame(measure);
    };
    measure();
    // Captured, for the list's own scrolling does not bubble.
    window.addEventListener("scroll", ask, { capture: true, passive: true });
    window.addEventListener("resize", ask);
    return () => {
      cancelAnimationFrame(frame);
      window.removeEventListener("scroll", ask, { capture: true });
      window.removeEventListener("resize", ask);
    };
  }, [list, count, rowHeight]);
  return { first: Math.min(range.first, count), end: Math.min(range.end, count) };
}
