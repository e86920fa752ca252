"use client";

import { type KeyboardEvent, type ReactNode, useId } from "react";

/** Null for keys that lead to no tab. */
function tabAfter(key: string, at: number, count: number): number | null {
  if (key === "ArrowRight") return (at + 1) % count;
  if (key === "ArrowLeft") return (at - 1 + count) % count;
  if (key === "Home") return 0;
  if (key === "End") return count - 1;
  return null;
}

type Props = {
  value: string;
  onChange: (value: string) => void;
  tabs: readonly { value: string; label: ReactNode; content: ReactNode }[];
};

/** Panels; one is visible at a time. The arrow keys, Home and End change the tab. */
export function Tabs({ value, onChange, tabs }: Props) {
  const id = useId();
  const shown = tabs.find((tab) => tab.value === value);
  function onKeyDown(event: KeyboardEvent<HTMLElement>) {
    const at = tabs.findIndex((tab) => tab.value === value);
    const next = tabAfter(event.key, at, tabs.length);
    const tab = next === null ? undefined : tabs[next];
    if (tab === undefined || event.ctrlKey || event.metaKey || event.altKey || event.shiftKey) return;
    event.preventDefault();
    onChange(tab.value);
    event.currentTarget.querySelector<HTMLElement>(`[data-value="${tab.value}"]`)?.focus();
  }
  return (
    <>
      <div className="flex gap-4 border-line border-b px-4 sm:px-6" onKeyDown={onKeyDown} role="tablist">
        {tabs.map((tab) => {
          const selected = tab === shown;
          return (
            <button
              aria-controls={selected ? `${id}-panel` : undefined}
              aria-selected={selected}
              className="-mb-px h-9 border-transparent border-b-2 text-muted hover:text-ink aria-selected:border-accent aria-selected:font-medium aria-selected:text-ink"
              data-value={tab.value}
              id={`${id}-${tab.value}`}
              key={tab.value}
              onClick={() => onChange(tab.value)}
              role="tab"
              tabIndex={selected || (shown === undefined && tab === tabs[0]) ? 0 : -1}
              type="button"
            >
              {tab.label}
            </button>
          );
        })}
      </div>
      {shown ? (
        <div
          aria-labelledby={`${id}-${shown.value}`}
          className="px-4 py-3 sm:px-6"
          id={`${id}-panel`}
          key={shown.value}
          role="tabpanel"
          // biome-ignore lint/a11y/noNoninteractiveTabindex: a panel may have nothing else to focus.
          tabIndex={0}
        >
          {shown.content}
        </div>
      ) : null}
    </>
  );
}
