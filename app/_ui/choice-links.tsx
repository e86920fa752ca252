"use client";

import clsx from "clsx";

type Props = {
  label: string;
  value: string | null;
  options: readonly { value: string | null; label: string; href: string }[];
};

/** Links that each set one value of a filter. Only the rows are fetched again. */
export function ChoiceLinks({ label, value, options }: Props) {
  return (
    <nav aria-label={label} className="flex flex-wrap items-center gap-1">
      {options.map((option) => (
        <a
          aria-current={option.value === value ? "true" : undefined}
          className={clsx(
            "inline-flex h-7 items-center rounded-md px-2",
            option.value === value
              ? "bg-selected font-medium text-ink"
              : "text-muted hover:bg-hover hover:text-ink",
          )}
          href={option.href}
          key={option.label}
          onClick={(event) => {
            if (event.metaKey || event.ctrlKey || event.shiftKey) return;
            event.preventDefault();
            window.history.replaceState(null, "", option.href);
          }}
        >
          {option.label}
        </a>
      ))}
    </nav>
  );
}
