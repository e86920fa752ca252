import { type PointerEvent, useState } from "react";

/** A shorter move is a click, in pixels. */
const MIN_PX = 4;

/** A dragged range, in shares of the element's width. */
export type Dragged = { from: number; to: number };

/** Lets the pointer drag over an element. `onDragged` is called when it is released. */
export function useDrag(onDragged: (dragged: Dragged) => void): {
  dragged: Dragged | null;
  handlers: {
    onPointerDown: (event: PointerEvent) => void;
    onPointerMove: (event: PointerEvent) => void;
    onPointerUp: (event: PointerEvent) => void;
    onPointerCancel: () => void;
  };
} {
  const [drag, setDrag] = useState<{ anchor: number; at: number } | null>(null);
  const dragged = drag && { from: Math.min(drag.anchor, drag.at), to: Math.max(drag.anchor, drag.at) };
  return {
    dragged,
    handlers: {
      onPointerDown: (event) => {
        if (event.button !== 0) return;
        event.currentTarget.setPointerCapture(event.pointerId);
        const { part } = positionOf(event);
        setDrag({ anchor: part, at: part });
      },
      onPointerMove: (event) => {
        if (drag) setDrag({ ...drag, at: positionOf(event).part });
      },
      onPointerUp: (event) => {
        setDrag(null);
        if (!drag) return;
        const { part, width } = positionOf(event);
        const last = { from: Math.min(drag.anchor, part), to: Math.max(drag.anchor, part) };
        if ((last.to - last.from) * width >= MIN_PX) onDragged(last);
      },
      onPointerCancel: () => setDrag(null),
    },
  };
}

function positionOf(event: PointerEvent): { part: number; width: number } {
  const { left, width } = event.currentTarget.getBoundingClientRect();
  return { part: Math.min(1, Math.max(0, (event.clientX - left) / width)), width };
}
