"use client";

import { type ReactNode, type RefObject, useLayoutEffect, useRef, useState } from "react";

/** Longer texts begin folded. */
const LONG = 600;
const MANY_LINES = 8;
/** More than is seen of a folded text on the widest page. */
const SEEN = 3_000;

/** Whether a text is long enough to begin folded. */
export function isLong(text: string): boolean {
  return text.length > LONG || text.split("\n", MANY_LINES + 1).length > MANY_LINES;
}

/** As much of a text as is seen of it while it is folded. */
export function startOfFolded(text: string): string {
  // Half a character would be another one in the server's HTML than in the browser.
  return text.slice(0, SEEN).replace(/[\ud800-\udbff]$/, "");
}

/**
 * The start of something long, the rest at a click; what is short is shown as it is. Content that is dear to draw is given as
 * a function: told whether only its start is seen, it takes `startOfFolded` of its text.
 */
export function Fold({
  long,
  size,
  startsOpen = false,
  onOpen,
  children,
}: {
  long: boolean;
  /** Whether it is open before the reader asks: there is something to be seen in it. */
  startsOpen?: boolean;
  /** How much the rest is, for the button: `4.1 KiB`. */
  size: string;
  onOpen?: () => void;
  children: ReactNode | ((folded: boolean) => ReactNode);
}) {
  const [open, setOpen] = useState(startsOpen);
  const box = useRef<HTMLDivElement>(null);
  useInertBelow(box, long && !open);
  const content = typeof children === "function" ? children(long && !open) : children;
  if (!long) return content;
  return (
    <>
      <div
        className={
          open
            ? undefined
            : "relative max-h-28 overflow-hidden [mask-image:linear-gradient(#000_65%,transparent)]"
        }
        ref={box}
      >
        {content}
      </div>
      <button
        aria-expanded={open}
        className="mt-1 text-accent hover:underline"
        onClick={() => {
          setOpen(!open);
          if (!open) onOpen?.();
        }}
        type="button"
      >
        {open ? "Show less" : `Show all ${size}`}
      </button>
    </>
  );
}

const FOCUSABLE = "a[href], button, input, select, textarea, summary, [tabindex]";

/** Keeps the tab key from what lies below the lower edge of a folded box: nobody sees the focus there. */
function useInertBelow(box: RefObject<HTMLDivElement | null>, folded: boolean): void {
  useLayoutEffect(() => {
    const element = box.current;
    if (!element || !folded) return;
    const mark = () => {
      const { bottom } = element.getBoundingClientRect();
      const controls = [...element.querySelectorAll<HTMLElement>(FOCUSABLE)];
      // All is read before anything is written: else each would be laid out anew.
      const hidden = controls.map((control) => control.getBoundingClientRect().bottom > bottom);
      for (const [index, control] of controls.entries()) control.inert = hidden[index] ?? false;
    };
    mark();
    // What is folded comes and changes later: pieces, a part of the page that is loaded on demand, another width.
    const changes = new MutationObserver(mark);
    changes.observe(element, { childList: true, subtree: true });
    const sizes = new ResizeObserver(mark);
    sizes.observe(element);
    return () => {
      changes.disconnect();
      sizes.disconnect();
      for (const control of element.querySelectorAll<HTMLElement>("[inert]")) control.inert = false;
    };
  }, [box, folded]);
}
