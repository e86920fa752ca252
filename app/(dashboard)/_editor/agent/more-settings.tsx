"use client";

import { type ReactNode, useState } from "react";

type MoreSettingsProps = {
  isUsed: boolean;
  isWrong: boolean;
  labels: readonly string[];
  children: ReactNode;
};

/** The settings that few agents need, folded to their names. */
export function MoreSettings({ isUsed, isWrong, labels, children }: MoreSettingsProps) {
  const [open, setOpen] = useState(isUsed);
  return (
    <details
      className="group"
      onToggle={({ currentTarget }) => setOpen(currentTarget.open)}
      open={open || isWrong}
    >
      <summary className="cursor-pointer py-1 font-medium hover:text-accent">
        More settings{" "}
        <span className="font-normal text-muted text-xs group-open:hidden">{labels.join(", ")}</span>
      </summary>
      <div className="grid gap-4 pt-3 sm:grid-cols-2">{children}</div>
    </details>
  );
}
