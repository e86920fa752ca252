import clsx from "clsx";
import { type KeyboardEvent, type Ref, useId } from "react";
import { formatCount } from "@/app/_ui/figures/format";
import { SearchField } from "@/app/_ui/search-field";
import type { Measure } from "../measures";
import type { Workbench } from "../use-workbench";

const MEASURES: readonly { value: Measure; label: string }[] = [
  { value: "time", label: "Time" },
  { value: "credits", label: "Credits" },
  { value: "tokens", label: "Tokens" },
];

/** The timeline's toolbar: a search through all texts, failures only, and the measure of the bars. */
export function TimelineTools({ bench, field }: { bench: Workbench; field: Ref<HTMLInputElement> }) {
  const { finder, shown, failedCount, onlyFailed, setFailedOnly, measure, setMeasure, reserve } = bench;
  const name = useId();
  const onKey = (event: KeyboardEvent<HTMLInputElement>) => {
    if (event.key === "Escape") {
      finder.setText("");
      event.currentTarget.blur();
    } else if (event.key === "Enter" || event.key === "ArrowDown") {
      event.preventDefault();
      bench.move(Number.NEGATIVE_INFINITY);
    }
  };
  return (
    <search className="flex min-h-11 flex-wrap items-center gap-x-3 gap-y-1 px-4 py-1.5 sm:pl-6">
      <div className="relative basis-full sm:min-w-40 sm:flex-1">
        <SearchField
          // The number of hits is over its end.
          className={clsx(finder.text && "[&>input]:pr-28")}
          label="Find in this run"
          onChange={(event) => finder.setText(event.target.value)}
          onKeyDown={onKey}
          placeholder="Find in all texts"
          ref={field}
          value={finder.text}
        />
        <span
          aria-live="polite"
          className="pointer-events-none absolute top-2 right-8 max-w-20 truncate text-muted text-xs"
        >
          {finder.describe(shown.length)}
        </span>
      </div>
      {/* Keeps space for the first failure. */}
      {failedCount > 0 || reserve ? (
        <button
          aria-pressed={onlyFailed}
          className={clsx(
            "h-7 min-w-16 whitespace-nowrap rounded-md px-2 max-sm:order-last",
            failedCount === 0 && "invisible",
            onlyFailed ? "bg-selected font-medium text-ink" : "text-muted hover:bg-hover hover:text-ink",
          )}
          onClick={() => setFailedOnly(!onlyFailed)}
          type="button"
        >
          {formatCount(failedCount)} failed
        </button>
      ) : null}
      <fieldset className="flex rounded-md border border-line p-0.5">
        <legend className="sr-only">Bars show</legend>
        {MEASURES.map(({ value, label }) => (
          <label
            className={clsx(
              "flex h-6 cursor-pointer items-center rounded px-2 text-xs has-[:focus-visible]:outline-2 has-[:focus-visible]:outline-focus",
              value === measure ? "bg-selected font-medium text-ink" : "text-muted hover:text-ink",
            )}
            key={value}
          >
            <input
              checked={value === measure}
              className="sr-only"
              name={name}
              onChange={() => setMeasure(value)}
              type="radio"
            />
            {label}
          </label>
        ))}
      </fieldset>
    </search>
  );
}
