"use client";

import { IconButton } from "@/app/_ui/button";
import { BesideIcon, RemoveIcon } from "@/app/_ui/icons";
import { notify } from "@/app/_ui/toast";
import { MoveButtons, moveButton } from "@/app/(dashboard)/_editor/move-buttons";
import type { PartProps } from "../part-form";
import { SELECTED_CARD } from "../step-list";
import { ANCHORED, removeStep, type StepView } from "../tool-document";
import { CallFields } from "./call-fields";
import { GroupFields } from "./group-fields";

/** The changes that a step's form makes in the list of steps. */
export type StepActions = {
  /** `focus`: a CSS selector of what gets the focus. */
  onMove: (from: number, to: number, focus: string) => void;
  onAddBeside: (index: number) => void;
};

export function StepForm({
  step,
  index,
  onMove,
  onAddBeside,
  ...props
}: PartProps & StepActions & { step: StepView; index: number }) {
  const { tool, textOf, onChange, onSelect } = props;
  const name = step.id || `step ${index + 1}`;
  function remove() {
    const before = textOf();
    const removed = removeStep(before, index);
    if (removed.text === before) return notify("The step was not removed", ANCHORED);
    onChange(() => removed.text);
    onSelect(index > 0 ? index - 1 : "input", SELECTED_CARD);
    notify(`Step ${step.id} is removed`, undefined, {
      label: "Undo",
      run: () => {
        onChange(removed.restore);
        onSelect(index, SELECTED_CARD);
      },
    });
  }
  return (
    <section aria-label={`Step ${name}`} className="flex max-w-3xl flex-col gap-4">
      <div className="flex items-center gap-1">
        <h2 className="min-w-0 flex-1 truncate font-semibold">
          Step {index + 1} of {tool.steps.length}
        </h2>
        <IconButton label={`Add a step beside ${name}`} onClick={() => onAddBeside(index)}>
          <BesideIcon />
        </IconButton>
        <MoveButtons
          count={tool.steps.length}
          index={index}
          name={name}
          onMove={(to) => onMove(index, to, moveButton(to < index ? "up" : "down"))}
        />
        <IconButton label={`Remove ${name}`} onClick={remove}>
          <RemoveIcon />
        </IconButton>
      </div>
      {step.parallel === null ? (
        <CallFields {...props} place={{ index }} step={step} />
      ) : (
        <GroupFields {...props} index={index} step={step} />
      )}
    </section>
  );
}
