"use client";

import { type RefObject, useEffect, useRef } from "react";

/** A bar may cover the upper edge of the page, in pixels. */
const PAGE_TOP = 56;

/**
 * Keeps the selected row of a scrolling list visible. Calls `onLeave` when the reader scrolls away from the end of the
 * list, or scrolls the list out of view.
 * @param chosenAt the index of the selected row; below 0 for none
 * @param rowHeight in pixels, the same for all rows
 */
export function useScrollIntoView(
  list: RefObject<HTMLElement | null>,
  chosenAt: number,
  { rowHeight, following, onLeave }: { rowHeight: number; following: boolean; onLeave: () => void },
): void {
  /** Our own scroll position, to tell it from the reader's scrolling. */
  const put = useRef(0);
  const before = useRef({ chosenAt: -1, following });
  /** A new line may be rendered before the page knows that the reader has left; it must not scroll back. */
  const left = useRef(false);
  useEffect(() => {
    const again = following && !before.current.following;
    const moved = chosenAt !== before.current.chosenAt;
    before.current = { chosenAt, following };
    if (!following) left.current = false;
    if (left.current) return;
    const box = list.current;
    if (!(moved || again) || chosenAt < 0 || !box || box.scrollHeight <= box.clientHeight) return;
    const top = chosenAt * rowHeight;
    if (top < box.scrollTop) box.scrollTop = top;
    else if (top + rowHeight > box.scrollTop + box.clientHeight) {
      box.scrollTop = top + rowHeight - box.clientHeight;
    }
    put.current = box.scrollTop;
  }, [list, chosenAt, rowHeight, following]);

  const leave = useRef(onLeave);
  useEffect(() => {
    leave.current = () => {
      left.current = true;
      onLeave();
    };
  });
  useEffect(() => {
    const box = list.current;
    if (!box || !following) return;
    const onScroll = () => {
      const moved = Math.abs(box.scrollTop - put.current) > 1;
      const fromEnd = box.scrollHeight - box.clientHeight - box.scrollTop;
      if (moved && fromEnd > rowHeight) leave.current();
    };
    const onPageScroll = () => {
      if (box.getBoundingClientRect().bottom < PAGE_TOP) leave.current();
    };
    box.addEventListener("scroll", onScroll, { passive: true });
    window.addEventListener("scroll", onPageScroll, { passive: true });
    return () => {
      box.removeEventListener("scroll", onScroll);
      window.removeEventListener("scroll", onPageScroll);
    };
  }, [list, rowHeight, following]);
}
