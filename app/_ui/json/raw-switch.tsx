"use client";

import { classNames } from "../class-names";

/** Shows a text as it is stored instead of what is made of it. */
export function RawSwitch({
  raw,
  onSwitch,
  className,
}: {
  raw: boolean;
  onSwitch: (raw: boolean) => void;
  className: string;
}) {
  return (
    <button
      aria-pressed={raw}
      className={classNames(
        "rounded px-1.5 text-xs leading-5",
        raw ? "bg-selected font-medium" : "text-muted hover:bg-hover hover:text-ink",
        className,
      )}
      onClick={() => onSwitch(!raw)}
      title={raw ? "Show it formatted" : "Show it as stored"}
      type="button"
    >
      Raw
    </button>
  );
}
