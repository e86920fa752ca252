"use client";

import clsx from "clsx";
import { type KeyboardEvent, type Ref, useId } from "react";

type YamlFieldProps = {
  value: string;
  /** Lines with problems. */
  lines: readonly number[];
  /** The first and last selected line. */
  marked?: readonly [from: number, to: number] | undefined;
  onChange: (value: string) => void;
  ref: Ref<HTMLTextAreaElement>;
};

/** A field for a definition as YAML: line numbers, and Tab indents by two spaces. Escape, then Tab, leaves the field. */
export function YamlField({ value, lines, marked, onChange, ref }: YamlFieldProps) {
  const id = useId();
  const count = value.split("\n").length;
  function indent(event: KeyboardEvent<HTMLTextAreaElement>) {
    const area = event.currentTarget;
    if (event.key === "Escape") area.dataset.leaving = "true";
    if (event.key !== "Tab" || event.shiftKey || area.dataset.leaving === "true") return;
    event.preventDefault();
    // Keeps the browser's undo history, which a new value would clear.
    area.setRangeText("  ", area.selectionStart, area.selectionEnd, "end");
    onChange(area.value);
  }
  return (
    <div className="flex flex-col gap-1.5">
      <div className="flex overflow-hidden rounded-md border border-input-line bg-canvas focus-within:border-accent">
        <ol aria-hidden="true" className="mono select-none py-3 pr-2 text-right text-faint leading-5">
          {Array.from({ length: count }, (_, index) => index + 1).map((number) => (
            <li
              className={clsx(
                "pl-3",
                lines.includes(number) && "font-semibold text-failed",
                marked && number >= marked[0] && number <= marked[1] && "bg-selected text-ink",
              )}
              key={number}
            >
              {number}
            </li>
          ))}
        </ol>
        <textarea
          aria-describedby={`${id}-keys`}
          aria-label="Definition as YAML"
          className="mono min-h-96 min-w-0 flex-1 resize-none overflow-x-auto whitespace-pre bg-transparent py-3 pr-3 leading-5 outline-none"
          onBlur={(event) => delete event.currentTarget.dataset.leaving}
          onChange={(event) => onChange(event.target.value)}
          onKeyDown={indent}
          ref={ref}
          rows={count + 1}
          spellCheck={false}
          value={value}
          wrap="off"
        />
      </div>
      <p className="text-muted text-xs max-sm:hidden" id={`${id}-keys`}>
        Tab indents. To leave the field, press Escape, then Tab.
      </p>
    </div>
  );
}
