"use client";

import { type ReactNode, useState } from "react";

/** Longer texts begin folded. */
const LONG = 600;
const MANY_LINES = 8;

/** Whether a text is long enough to begin folded. */
export function isLong(text: string): boolean {
  return text.length > LONG || text.split("\n", MANY_LINES + 1).length > MANY_LINES;
}

/** The start of something long, the rest at a click; what is short is shown as it is. */
export function Fold({
  long,
  whole,
  onOpen,
  children,
}: {
  long: boolean;
  /** How much the rest is, for the button: `4.1 KiB`. */
  whole: string;
  onOpen?: () => void;
  children: ReactNode;
}) {
  const [open, setOpen] = useState(false);
  if (!long) return children;
  return (
    <>
      <div
        className={
          open
            ? undefined
            : "relative max-h-28 overflow-hidden [mask-image:linear-gradient(#000_65%,transparent)]"
        }
      >
        {children}
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
        {open ? "Show less" : `Show all ${whole}`}
      </button>
    </>
  );
}
