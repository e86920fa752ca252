"use client";

import { Tabs as Base } from "@base-ui/react/tabs";
import type { ReactNode } from "react";

/** Panels of which one is visible at a time. */
export function Tabs({
  value,
  onChange,
  tabs,
}: {
  value: string;
  onChange: (value: string) => void;
  tabs: readonly { value: string; label: ReactNode; content: ReactNode }[];
}) {
  return (
    <Base.Root onValueChange={(next: string) => onChange(next)} value={value}>
      <Base.List className="flex gap-4 border-line border-b px-4 sm:px-6">
        {tabs.map((tab) => (
          <Base.Tab
            className="-mb-px h-9 border-transparent border-b-2 text-muted hover:text-ink data-[active]:border-accent data-[active]:font-medium data-[active]:text-ink"
            key={tab.value}
            value={tab.value}
          >
            {tab.label}
          </Base.Tab>
        ))}
      </Base.List>
      {tabs.map((tab) => (
        <Base.Panel className="px-4 py-3 outline-none sm:px-6" key={tab.value} value={tab.value}>
          {tab.content}
        </Base.Panel>
      ))}
    </Base.Root>
  );
}
