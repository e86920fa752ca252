import clsx from "clsx";
import { type ReactNode, useId, useState } from "react";
import { formatPlural } from "@/app/_ui/figures/format";
import { ChevronRightIcon } from "@/app/_ui/icons";
import type { Part } from "./step-list";
import type { ToolView } from "./tool-document";

type FoldingListProps = { tool: ToolView; selected: Part; children: (fold: () => void) => ReactNode };

/** The list of a tool's parts. Below the width at which it is beside the form, it folds to the selected part. */
export function FoldingList({ tool, selected, children }: FoldingListProps) {
  const [isOpen, setOpen] = useState(false);
  const id = useId();
  return (
    <>
      <button
        aria-controls={id}
        aria-expanded={isOpen}
        className="flex min-h-9 items-center gap-2 text-left lg:hidden"
        onClick={() => setOpen(!isOpen)}
        type="button"
      >
        <ChevronRightIcon className={clsx("shrink-0 text-muted", isOpen && "rotate-90")} size={16} />
        <span className="min-w-0 truncate font-medium">{describePart(tool, selected)}</span>
      </button>
      <div className={isOpen ? undefined : "max-lg:hidden"} id={id}>
        {children(() => setOpen(false))}
      </div>
    </>
  );
}

function describePart({ steps }: ToolView, part: Part): string {
  if (part === "input") return `Name and input, before ${formatPlural(steps.length, "step")}`;
  if (part === "output") return `Output, after ${formatPlural(steps.length, "step")}`;
  return `Step ${part + 1} of ${steps.length}: ${steps[part]?.id || "no id"}`;
}
