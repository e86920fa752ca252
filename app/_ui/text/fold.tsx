"use client";

import clsx from "clsx";
import { type ReactNode, type RefObject, useLayoutEffect, useRef, useState } from "react";
import { formatBytes } from "@/app/_ui/figures/format";

/** In bytes. The button names the size of larger content. */
const SIZED_FROM = 4_096;

type Props = {
  long: boolean;
  startsOpen?: boolean;
  height?: string | undefined;
  bytes: number;
  onOpen?: () => void;
  children: ReactNode | ((folded: boolean) => ReactNode);
};

/**
 * Collapses a long content. Pass expensive content as a function: it gets the collapsed state, and then draws
 * `startOfFolded` of its text.
 */
export function Fold({ long, bytes, startsOpen = false, height = "max-h-28", onOpen, children }: Props) {
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
            : clsx("relative overflow-hidden [mask-image:linear-gradient(#000_65%,transparent)]", height)
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
        {open ? "Show less" : bytes < SIZED_FROM ? "Show all" : `Show all ${formatBytes(bytes)}`}
      </button>
    </>
  );
}

const FOCUSABLE = "a[href], button, input, select, textarea, summary, [tabindex]";

/** Removes controls below the lower edge of a collapsed box from the tab order. */
function useInertBelow(box: RefObject<HTMLDivElement | null>, folded: boolean): void {
  useLayoutEffect(() => {
    const element = box.current;
    if (!element || !folded) return;
    const mark = () => {
      const { bottom } = element.getBoundingClientRect();
      const controls = [...element.querySelectorAll<HTMLElement>(FOCUSABLE)];
      // All positions are read before anything is written, which avoids a layout per control.
      const hidden = controls.map((control) => control.getBoundingClientRect().bottom > bottom);
      for (const [index, control] of controls.entries()) control.inert = hidden[index] ?? false;
    };
    mark();
    // The content can change later: pieces, parts loaded on demand, another width.
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
