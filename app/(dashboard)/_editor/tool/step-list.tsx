"use client";

import clsx from "clsx";
import type { ReactNode } from "react";
import { Button } from "@/app/_ui/button";
import { formatPlural } from "@/app/_ui/figures/format";
import { ConditionIcon, GripIcon, PinIcon, PlusIcon, RepeatIcon } from "@/app/_ui/icons";
import { Badge } from "@/app/_ui/row-name";
import { ConditionValue, useLastCondition } from "./knowledge/last-condition";
import type { Pins } from "./knowledge/pins";
import type { StepView, ToolView } from "./tool-document";
import { type Drag, useDrag } from "./use-drag";

/** The part of a tool that is shown beside the list: a step by its index, the input or the output. */
export type Part = number | "input" | "output";

export const SELECTED_CARD = "[data-steps] [aria-current]";

type StepListProps = {
  tool: ToolView;
  selected: Part;
  pins: Pins;
  hasProblem: (part: Part) => boolean;
  onSelect: (part: Part) => void;
  onAdd: (index: number) => void;
  onMove: (from: number, to: number, focus: string) => void;
};

/** The parts of a tool in the order of its data. Marks parts with issues, moves steps and inserts steps between parts. */
export function StepList({ tool, selected, pins, hasProblem, onSelect, onAdd, onMove }: StepListProps) {
  const drag = useDrag((from, to) => onMove(from, to, SELECTED_CARD));
  const card = (part: Part) => ({
    current: part === selected,
    hasProblem: hasProblem(part),
    onSelect: () => onSelect(part),
  });
  return (
    <div className="flex flex-col items-start gap-2">
      <ol aria-label="Steps" className="flex w-full flex-col" data-steps>
        <Card
          {...card("input")}
          dashed
          note={tool.inputs.join(", ") || "no properties"}
          title="Name and input"
        >
          <Gap after="the input" onAdd={() => onAdd(0)} />
        </Card>
        {tool.steps.map((step, index) => (
          <Card
            {...card(index)}
            drag={drag.of(index)}
            // biome-ignore lint/suspicious/noArrayIndexKey: a step has no identity but its position; ids are edited.
            key={index}
            isPinned={pins.has(step.id)}
            note={describeCall(step)}
            onMove={(by) => onMove(index, index + by, SELECTED_CARD)}
            rules={step}
            title={step.id || "no id"}
          >
            <Gap after={step.id || `step ${index + 1}`} onAdd={() => onAdd(index + 1)} />
          </Card>
        ))}
        <Card
          {...card("output")}
          dashed
          note={tool.fields.output === undefined ? "the last step's output" : "as declared"}
          title="Output"
        />
      </ol>
      <Button onClick={() => onAdd(typeof selected === "number" ? selected + 1 : tool.steps.length)}>
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
  hasProblem: boolean;
  dashed?: boolean;
  isPinned?: boolean;
  drag?: Drag;
  onMove?: (by: 1 | -1) => void;
  onSelect: () => void;
  rules?: StepView;
  children?: ReactNode;
};

function Card({
  title,
  note,
  current,
  hasProblem,
  dashed = false,
  isPinned,
  drag,
  onMove,
  onSelect,
  rules,
  children,
}: CardProps) {
  const flow = rules === undefined ? [] : flowOf(rules);
  const condition = useLastCondition(rules);
  return (
    <li>
      {flow.map(({ name, expression, Icon }) => (
        <p className="flex min-w-0 items-center gap-1.5 pb-1 pl-2.5 text-xs" key={name} title={expression}>
          <Icon className="shrink-0 text-muted" size={14} />
          <span className="shrink-0 font-medium">{name}</span>
          <code className="mono min-w-0 truncate text-muted">{expression}</code>
          {name === "Only if" && condition !== null ? <ConditionValue condition={condition} /> : null}
        </p>
      ))}
      <div className="group/card relative" {...drag?.target}>
        {drag === undefined ? null : (
          <span
            aria-hidden="true"
            className={clsx(
              "absolute inset-y-0 flex w-4 cursor-grab items-center text-faint opacity-0 group-hover/card:opacity-100 pointer-coarse:hidden",
              flow.length > 0 ? "left-0" : "-left-4",
            )}
            data-drag={title}
            {...drag.handle}
          >
            <GripIcon size={14} />
          </span>
        )}
        {drag?.edge ? (
          <span
            aria-hidden="true"
            className={clsx(
              "absolute inset-x-0 h-0.5 bg-accent",
              drag.edge === "before" ? "-top-1.5" : "-bottom-1.5",
            )}
          />
        ) : null}
        <button
          aria-current={current ? "true" : undefined}
          aria-keyshortcuts={onMove ? "Alt+ArrowUp Alt+ArrowDown" : undefined}
          className={clsx(
            "flex flex-col rounded-md border bg-canvas px-3 py-2 text-left hover:bg-hover",
            flow.length > 0 ? "ml-4 w-[calc(100%-1rem)]" : "w-full",
            dashed && !current && "border-dashed",
            current ? "border-accent shadow-[inset_0_0_0_1px_var(--color-accent)]" : "border-line-strong",
          )}
          onClick={onSelect}
          onKeyDown={(event) => {
            const by = event.key === "ArrowUp" ? -1 : event.key === "ArrowDown" ? 1 : null;
            if (!event.altKey || by === null || onMove === undefined) return;
            event.preventDefault();
            onMove(by);
          }}
          type="button"
        >
          <span className="flex w-full items-center gap-2">
            <span className="min-w-0 flex-1 truncate font-medium">{title}</span>
            {isPinned ? (
              <span className="flex items-center gap-1 text-accent text-xs">
                <PinIcon size={12} />
                pinned
              </span>
            ) : null}
            {hasProblem ? (
              <span className="flex items-center gap-1.5 text-failed text-xs">
                <span aria-hidden="true" className="size-2 bg-failed" />
                problem
              </span>
            ) : null}
          </span>
          <span className="mono w-full truncate text-muted">{note}</span>
          {rules ? <Rules step={rules} /> : null}
        </button>
      </div>
      {children}
    </li>
  );
}

function Gap({ after, onAdd }: { after: string; onAdd: () => void }) {
  return (
    <button
      aria-label={`Insert a step after ${after}`}
      className="group flex h-6 w-full items-center gap-2 pl-2.5 text-faint hover:text-accent focus-visible:text-accent"
      onClick={onAdd}
      type="button"
    >
      <span
        aria-hidden="true"
        className="flex size-4 shrink-0 items-center justify-center rounded-full border border-line-strong bg-canvas group-hover:border-accent group-focus-visible:border-accent"
      >
        <PlusIcon size={10} />
      </span>
      <span
        aria-hidden="true"
        className="flex min-w-0 flex-1 items-center gap-2 whitespace-nowrap text-xs opacity-0 after:h-px after:flex-1 after:bg-accent group-hover:opacity-100 group-focus-visible:opacity-100"
      >
        Insert a step
      </span>
    </button>
  );
}

const describeCall = ({ uses, parallel }: StepView) =>
  parallel === null ? (uses ?? "no function") : `${formatPlural(parallel, "step")} in parallel`;

const flowOf = ({ fields }: StepView) =>
  [
    { name: "Only if", expression: expressionOf(fields.if), Icon: ConditionIcon },
    { name: "For each", expression: expressionOf(fields.forEach), Icon: RepeatIcon },
  ].filter(({ expression }) => expression !== "");

const expressionOf = (value: unknown) =>
  typeof value === "string"
    ? value
        .trim()
        .replace(/^\{\{(.*)\}\}$/s, "$1")
        .trim()
    : "";

function Rules({ step: { fields } }: { step: StepView }) {
  const rules = [
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
