import { type RefObject, useEffect, useEffectEvent, useRef, useState } from "react";

/** In pixels. */
export const ROW_HEIGHT = 36;

const BEYOND = 12;
const AT_FIRST = 60;
const STEP = 6;

/**
 * The visible rows of a long list, whether the list or the page scrolls. @returns the first row, and the one after
 * the last
 */
export function useRowWindow(list: RefObject<HTMLElement | null>, count: number) {
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
      const first = Math.max(0, Math.floor(from / ROW_HEIGHT / STEP) * STEP - BEYOND);
      const end = Math.max(first, Math.ceil(to / ROW_HEIGHT / STEP) * STEP + BEYOND);
      setRange((known) => (known.first === first && known.end === end ? known : { first, end }));
    };
    const ask = () => {
      frame ||= requestAnimationFrame(measure);
    };
    const stop = new AbortController();
    measure();
    // Capturing, because the list's own scroll events do not bubble.
    window.addEventListener("scroll", ask, { capture: true, passive: true, signal: stop.signal });
    window.addEventListener("resize", ask, { signal: stop.signal });
    return () => {
      cancelAnimationFrame(frame);
      stop.abort();
    };
  }, [list, count]);
  return { first: Math.min(range.first, count), end: Math.min(range.end, count) };
}

/** In pixels: a bar may cover the upper edge. */
const PAGE_TOP = 56;

/**
 * Keeps the selected row visible. Calls `stay` when the reader of a followed list scrolls away. @param chosenAt the
 * index of the selected row; below 0 for none
 */
export function useScrollIntoView(
  list: RefObject<HTMLElement | null>,
  chosenAt: number,
  { following, stay }: { following: boolean; stay: () => void },
): void {
  const put = useRef(0);
  const before = useRef({ chosenAt: -1, following });
  /** A new line may be rendered before the page detects that the reader has left; it must not scroll back. */
  const left = useRef(false);
  useEffect(() => {
    const again = following && !before.current.following;
    const moved = chosenAt !== before.current.chosenAt;
    before.current = { chosenAt, following };
    if (!following) left.current = false;
    if (left.current) return;
    const box = list.current;
    if (!(moved || again) || chosenAt < 0 || !box || box.scrollHeight <= box.clientHeight) return;
    const top = chosenAt * ROW_HEIGHT;
    box.scrollTop = Math.min(top, Math.max(box.scrollTop, top + ROW_HEIGHT - box.clientHeight));
    put.current = box.scrollTop;
  }, [list, chosenAt, following]);

  const leave = useEffectEvent(() => {
    left.current = true;
    stay();
  });
  useEffect(() => {
    const box = list.current;
    if (!box || !following) return;
    const stop = new AbortController();
    const options = { passive: true, signal: stop.signal };
    const onScroll = () => {
      const moved = Math.abs(box.scrollTop - put.current) > 1;
      const fromEnd = box.scrollHeight - box.clientHeight - box.scrollTop;
      if (moved && fromEnd > ROW_HEIGHT) leave();
    };
    box.addEventListener("scroll", onScroll, options);
    const onPageScroll = () => {
      if (box.getBoundingClientRect().bottom < PAGE_TOP) leave();
    };
    window.addEventListener("scroll", onPageScroll, options);
    return () => stop.abort();
  }, [list, following]);
}
