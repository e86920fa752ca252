"use client";

import clsx from "clsx";
import { type ReactNode, useEffect, useRef, useState } from "react";
import { flushSync } from "react-dom";

type Props = { label: string; className?: string; children: ReactNode };

/** A box that scrolls horizontally. It takes the keyboard focus only while its content is wider than the box. */
export function HorizontalScroll({ label, className, children }: Props) {
  const box = useRef<HTMLDivElement>(null);
  const [wide, setWide] = useState(false);
  useEffect(() => {
    const element = box.current;
    if (!element) return;
    // In the frame that resized it, so that it never scrolls without being reachable.
    const measure = () => flushSync(() => setWide(element.scrollWidth > element.clientWidth));
    const observer = new ResizeObserver(measure);
    observer.observe(element);
    for (const child of element.children) observer.observe(child);
    return () => observer.disconnect();
  }, []);
  return (
    <div
      className={clsx("overflow-x-auto", className)}
      ref={box}
      {...(wide ? { "aria-label": label, role: "region", tabIndex: 0 } : {})}
    >
      {children}
    </div>
  );
}
