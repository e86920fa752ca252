import { IconButton } from "@/app/_ui/button";
import { DownIcon, UpIcon } from "@/app/_ui/icons";

type MoveButtonsProps = {
  name: string;
  index: number;
  count: number;
  onMove: (to: number) => void;
};

/**
 * Move one item of a list; nothing for the only one. The caller then moves the focus with the item, to `moveButton`.
 */
export function MoveButtons({ name, index, count, onMove }: MoveButtonsProps) {
  if (count === 1) return null;
  return (
    <>
      <IconButton
        data-move="up"
        disabled={index === 0}
        label={`Move ${name} up`}
        onClick={() => onMove(index - 1)}
      >
        <UpIcon />
      </IconButton>
      <IconButton
        data-move="down"
        disabled={index === count - 1}
        label={`Move ${name} down`}
        onClick={() => onMove(index + 1)}
      >
        <DownIcon />
      </IconButton>
    </>
  );
}

/**
 * A CSS selector of the button that moves the item further in the same direction; at the end of the list, of the other
 * button.
 */
export function moveButton(direction: "up" | "down"): string {
  return direction === "up"
    ? "[data-move=up]:not(:disabled), :disabled + [data-move=down]"
    : "[data-move=down]:not(:disabled), [data-move=up]:has(+ :disabled)";
}
