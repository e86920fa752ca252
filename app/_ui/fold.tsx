"use client";

import { type ReactNode, useState } from "react";

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
  whole,
  onOpen,
  children,
}: {
  long: boolean;
  /** How much the rest is, for the button: `4.1 KiB`. */
  whole: string;
  onOpen?: () => void;
  children: ReactNode | ((folded: boolean) => ReactNode);
}) {
  const [open, setOpen] = useState(false);
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
        {open ? "Show less" : `Show all ${whole}`}
      </button>
    </>
  );
}
