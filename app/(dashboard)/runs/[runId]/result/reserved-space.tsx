import clsx from "clsx";
import { type ReactNode, useEffect, useRef, useState } from "react";

const HEIGHT = "h-52";
const MIN_HEIGHT = "min-h-52";

/**
 * Reserves the height of content that is still to come, so that nothing below moves. Taller content is cut off until
 * the reader expands it.
 */
export function ReservedSpace({ children }: { children: ReactNode }) {
  const [open, setOpen] = useState(false);
  const [isHigher, setIsHigher] = useState(false);
  const frame = useRef<HTMLDivElement>(null);
  const content = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const [box, inner] = [frame.current, content.current];
    if (!box || !inner || open) return;
    const sizes = new ResizeObserver(() => setIsHigher(inner.offsetHeight > box.clientHeight + 1));
    sizes.observe(inner);
    const onClick = ({ target }: MouseEvent) => {
      if (target instanceof Element && target.closest("[aria-expanded], summary")) setOpen(true);
    };
    box.addEventListener("click", onClick);
    return () => {
      sizes.disconnect();
      box.removeEventListener("click", onClick);
    };
  }, [open]);
  return (
    <div className={open ? MIN_HEIGHT : clsx("relative overflow-hidden", HEIGHT)} ref={frame}>
      <div className="flow-root" ref={content}>
        {children}
      </div>
      {isHigher && !open ? (
        <button
          aria-expanded={false}
          className="absolute inset-x-0 bottom-0 bg-canvas/95 py-1 text-left text-accent hover:underline"
          type="button"
        >
          Show all
        </button>
      ) : null}
    </div>
  );
}
