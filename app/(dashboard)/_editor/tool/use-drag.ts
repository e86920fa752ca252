import { type HTMLAttributes, useState } from "react";

/** The attributes of a list's item that is dragged by its handle and dropped on. */
export type Drag = {
  handle: HTMLAttributes<HTMLElement>;
  target: HTMLAttributes<HTMLElement>;
  /** The side of this item at which the dragged one would land. */
  edge: "before" | "after" | null;
};

/** Moves the items of a list by dragging. A dropped item takes the position of the one below the pointer. */
export function useDrag(onDrop: (from: number, to: number) => void): { of: (index: number) => Drag } {
  const [from, setFrom] = useState<number | null>(null);
  const [to, setTo] = useState<number | null>(null);
  const end = () => {
    setFrom(null);
    setTo(null);
  };
  return {
    of: (index) => ({
      handle: {
        draggable: true,
        onDragStart(event) {
          event.dataTransfer.effectAllowed = "move";
          // Firefox starts no drag without data. Text fields ignore this type.
          event.dataTransfer.setData("application/x-stepwell-step", String(index));
          setFrom(index);
        },
        onDragEnd: end,
      },
      target: {
        onDragOver(event) {
          if (from === null) return;
          event.preventDefault();
          setTo(index);
        },
        onDrop(event) {
          if (from === null) return;
          event.preventDefault();
          end();
          if (from !== index) onDrop(from, index);
        },
      },
      edge: from === null || to !== index || from === index ? null : from < index ? "after" : "before",
    }),
  };
}
