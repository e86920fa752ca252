import { useState } from "react";
import { IconButton } from "@/app/_ui/button";
import { RemoveIcon } from "@/app/_ui/icons";
import { notify } from "@/app/_ui/toast";
import { type PartProps, Rest } from "../part-form";
import { ANCHORED, membersOf, pathOf, type StepView, setValue } from "../tool-document";
import { CallFields } from "./call-fields";
import { FlowFields, hasControl } from "./flow-fields";
import { StepIdField } from "./step-id-field";

export function GroupFields({ step, index, ...props }: PartProps & { step: StepView; index: number }) {
  const place = { index };
  const members = membersOf(step);
  return (
    <>
      <div data-field="id">
        <StepIdField {...props} place={place} step={step} />
      </div>
      <FlowFields {...props} place={place} step={step} />
      <h3 className="font-semibold">Side by side</h3>
      {members.map((member, at) => (
        <MemberForm
          {...props}
          count={members.length}
          index={index}
          // biome-ignore lint/suspicious/noArrayIndexKey: a step has no identity but its position; ids are edited.
          key={at}
          member={at}
          step={member}
        />
      ))}
      <Rest
        problems={props.problems.filter(
          ({ path: [, , ...within] }) =>
            !hasControl(within) && !(within[0] === "parallel" && within.length > 1),
        )}
      />
    </>
  );
}

type MemberFormProps = PartProps & { step: StepView; index: number; member: number; count: number };

function MemberForm({ step, index, member, count, ...props }: MemberFormProps) {
  const place = { index, member };
  const name = step.id || `step ${member + 1} of the group`;
  const at = pathOf(place);
  const hasProblem = props.problems.some(({ path }) => at.every((key, level) => path[level] === key));
  // Chosen once: a form that closes during typing loses the focus.
  const [startsOpen] = useState(member === 0 || hasProblem);
  function remove() {
    const before = props.textOf();
    const removed = setValue(before, at, undefined);
    if (removed === before) return notify("The step was not removed", ANCHORED);
    props.onChange(() => removed);
    notify(`Step ${step.id} is removed`, undefined, {
      label: "Undo",
      run: () => props.onChange((later) => (later === removed ? before : later)),
    });
  }
  return (
    <details
      aria-label={`Step ${name}`}
      className="min-w-0 rounded-md border border-line-strong"
      data-member={member}
      open={startsOpen}
    >
      <summary className="min-h-9 cursor-pointer px-3 py-2 marker:text-faint">
        <span className="font-medium">{step.id || "no id"}</span>{" "}
        <span className="mono text-muted">{step.uses ?? "no function"}</span>
        {hasProblem ? <span className="ml-2 text-failed text-xs">problem</span> : null}
      </summary>
      <div className="flex flex-col gap-4 border-line border-t p-3">
        {count === 1 ? null : (
          <div className="-mb-2 flex justify-end">
            <IconButton label={`Remove ${name}`} onClick={remove}>
              <RemoveIcon />
            </IconButton>
          </div>
        )}
        <CallFields {...props} place={place} step={step} />
      </div>
    </details>
  );
}
