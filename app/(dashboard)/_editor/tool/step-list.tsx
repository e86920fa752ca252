"use client";

import clsx from "clsx";
import type { ReactNode } from "react";
import { Button } from "@/app/_ui/button";
import { formatPlural } from "@/app/_ui/figures/format";
import { PlusIcon } from "@/app/_ui/icons";
import { Badge } from "@/app/_ui/table";
import type { StepView, ToolView } from "./tool-document";

/** The part of a tool that is shown beside the list: a step by its index, the input or the output. */
export type Part = number | "input" | "output";

/** The selected card, as a CSS selector. */
export const SELECTED_CARD = "[data-steps] [aria-current]";

type StepListProps = {
  tool: ToolView;
  selected: Part;
  /** Returns true if a part has problems. */
  faulty: (part: Part) => boolean;
  onSelect: (part: Part) => void;
  onAdd: () => void;
};

/** The parts of a tool in the order of its data: input, steps, output. Parts with problems are marked. */
export function StepList({ tool, selected, faulty, onSelect, onAdd }: StepListProps) {
  const card = (part: Part) => ({
    current: part === selected,
    faulty: faulty(part),
    onSelect: () => onSelect(part),
  });
  return (
    <div className="flex flex-col items-start gap-2">
      <ol aria-label="Steps" className="flex w-full flex-col gap-2" data-steps>
        <Card
          {...card("input")}
          dashed
          note={tool.inputs.join(", ") || "no properties"}
          title="Name and input"
        />
        {tool.steps.map((step, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: a step has no identity but its position; ids are edited.
          <Card {...card(index)} key={index} note={describeCall(step)} title={step.id || "no id"}>
            <Rules step={step} />
          </Card>
        ))}
        <Card
          {...card("output")}
          dashed
          note={tool.fields.output === undefined ? "the last step's output" : "as declared"}
          title="Output"
        />
      </ol>
      <Button onClick={onAdd}>
        <PlusIcon />
        Add step
      </Button>
    </div>
  );
}

type CardProps = {
  title: string;
  note: string;
  current: boolean;
  faulty: boolean;
  dashed?: boolean;
  onSelect: () => void;
  children?: ReactNode;
};

function Card({ title, note, current, faulty, dashed = false, onSelect, children }: CardProps) {
  return (
    <li>
      <button
        aria-current={current ? "true" : undefined}
        className={clsx(
          "flex w-full flex-col rounded-md border bg-canvas px-3 py-2 text-left hover:bg-hover",
          dashed && !current && "border-dashed",
          current ? "border-accent shadow-[inset_0_0_0_1px_var(--color-accent)]" : "border-line-strong",
        )}
        onClick={onSelect}
        type="button"
      >
        <span className="flex w-full items-center gap-2">
          <span className="min-w-0 flex-1 truncate font-medium">{title}</span>
          {faulty ? (
            <span className="flex items-center gap-1.5 text-failed text-xs">
              <span aria-hidden="true" className="size-2 bg-failed" />
              problem
            </span>
          ) : null}
        </span>
        <span className="mono w-full truncate text-muted">{note}</span>
        {children}
      </button>
    </li>
  );
}

const describeCall = ({ uses, parallel }: StepView) =>
  parallel === null ? (uses ?? "no function") : `${formatPlural(parallel, "step")} in parallel`;

/** The settings that differ from a plain call. */
function Rules({ step: { fields } }: { step: StepView }) {
  const rules = [
    fields.if === undefined ? null : "only if",
    fields.forEach === undefined ? null : "for each",
    fields.retries === undefined ? null : "retries",
    fields.onError === "continue" ? "continues on error" : null,
  ].filter((rule) => rule !== null);
  if (rules.length === 0) return null;
  return (
    <span className="mt-1 flex flex-wrap gap-1">
      {rules.map((rule) => (
        <Badge key={rule}>{rule}</Badge>
      ))}
    </span>
  );
}
