"use client";

import { type RefObject, useEffect, useState } from "react";

/** Extra rows around the visible ones, for fast scrolling and the arrow keys. */
const BEYOND = 12;
/** Rows before anything is measured, and on the server. */
const AT_FIRST = 60;
/** The window moves in steps of this many rows. */
const STEP = 6;

/**
 * The rows of a long list to draw: the visible ones, whether the list or the page scrolls.
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
    // Capturing, because the list's own scroll events do not bubble.
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
