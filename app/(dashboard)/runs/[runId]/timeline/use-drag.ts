import { type PointerEvent, useState } from "react";

/** A pointer that moves less than this has only been put down, in pixels. */
const LEAST_PX = 4;

/** What a drag has come to: two places, in parts of the width of what it is dragged over. */
export type Dragged = { from: number; to: number };

/** Lets a pointer drag over an element from left to right or back; `onDragged` is told when it lets go. */
export function useDrag(onDragged: (dragged: Dragged) => void): {
  /** While it is dragged. */
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
        if ((last.to - last.from) * width >= LEAST_PX) onDragged(last);
      },
      onPointerCancel: () => setDrag(null),
    },
  };
}

function positionOf(event: PointerEvent): { part: number; width: number } {
  const { left, width } = event.currentTarget.getBoundingClientRect();
  return { part: Math.min(1, Math.max(0, (event.clientX - left) / width)), width };
}
