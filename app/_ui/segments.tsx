"use client";

import clsx from "clsx";

/** A choice between a few values, all visible; `before` is the label in front. */
export function Segments<Value extends string>({
  label,
  before,
  options,
  value,
  onChange,
  className,
  ...description
}: {
  label: string;
  before?: string;
  "aria-describedby"?: string;
  options: readonly { value: Value; label: string; disabled?: boolean }[];
  /** Null: none of them. */
  value: Value | null;
  onChange: (value: Value) => void;
  className?: string;
}) {
  return (
    <fieldset
      className={clsx("flex items-center rounded-md border border-line-strong p-0.5", className)}
      {...description}
    >
      <legend className="sr-only">{label}</legend>
      {before ? <span className="whitespace-nowrap pr-1 pl-2.5 text-muted">{before}</span> : null}
      {options.map((option) => (
        <button
          aria-pressed={option.value === value}
          className={clsx(
            "h-7 whitespace-nowrap rounded px-2.5 disabled:cursor-not-allowed disabled:opacity-55",
            option.value === value ? "bg-selected font-medium" : "text-muted hover:text-ink",
          )}
          disabled={option.disabled}
          key={option.value}
          onClick={() => onChange(option.value)}
          type="button"
        >
          {option.label}
        </button>
      ))}
    </fieldset>
  );
}
