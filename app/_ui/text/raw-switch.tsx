"use client";

import clsx from "clsx";
import { type ReactNode, useState } from "react";
import { PlainText } from "./plain-text";

type RawSwitchProps = { raw: boolean; onSwitch: (raw: boolean) => void; className: string };

/** Switches between the formatted view of a text and the text as stored. */
export function RawSwitch({ raw, onSwitch, className }: RawSwitchProps) {
  return (
    <button
      aria-pressed={raw}
      className={clsx(
        "min-h-6 rounded px-1.5 text-xs",
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

/** A formatted view with a switch to the text as stored. */
export function WithRaw({ text, children }: { text: string; children: ReactNode }) {
  const [raw, setRaw] = useState(false);
  return (
    <>
      <RawSwitch className="float-right ml-2" onSwitch={setRaw} raw={raw} />
      {raw ? <PlainText text={text} /> : children}
    </>
  );
}
