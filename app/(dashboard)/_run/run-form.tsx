import { useQuery } from "@tanstack/react-query";
import { type ReactNode, useRef } from "react";
import { Button } from "@/app/_ui/button";
import { useTRPC } from "@/app/_ui/data/providers";
import type { ShownError } from "@/app/_ui/data/query-client";
import { InputProblem } from "@/app/_ui/editor/input-problem";
import { formatCredits, NONE } from "@/app/_ui/figures/format";
import { PlayIcon } from "@/app/_ui/icons";
import { usePageActions } from "@/app/_ui/page/page-actions";
import type { RunKind } from "@/server/contract/enums";
import { weekQuery } from "../runs/query";
import { formatPerRunWithChildren } from "../runs/rates";

/** The agent or tool that a run panel starts. `parameters`: a tool's JSON Schema, as JSON. */
export type RunTarget = {
  kind: RunKind;
  id: string;
  name: string;
  maxCredits: string | null;
  active: boolean;
  parameters: string | null;
};

export type StartFormProps = {
  target: RunTarget;
  busy: boolean;
  problem: ShownError | string | null;
  onRun: (input: string) => void;
};

/** The frame of start forms: why a start was rejected, and the cost of a run. Ctrl or Command with Enter submits. */
export function RunForm({
  target,
  busy,
  problem,
  problemId,
  onSubmit,
  children,
}: Omit<StartFormProps, "onRun"> & {
  problemId: string;
  onSubmit: () => void;
  children: ReactNode;
}) {
  const trpc = useTRPC();
  const week = useQuery(weekQuery(trpc, target));
  const usual = week.data ? formatPerRunWithChildren(week.data.total) : NONE;
  const form = useRef<HTMLFormElement>(null);
  const focus = () =>
    form.current?.querySelector<HTMLElement>("input, textarea, select, [contenteditable]")?.focus();
  usePageActions([{ label: `Run ${target.name}`, icon: <PlayIcon />, run: focus }]);
  return (
    <form
      className="flex flex-col gap-3"
      onKeyDown={(event) => {
        if (event.key !== "Enter" || !(event.metaKey || event.ctrlKey)) return;
        event.preventDefault();
        event.currentTarget.requestSubmit();
      }}
      onSubmit={(event) => {
        event.preventDefault();
        onSubmit();
      }}
      ref={form}
    >
      {children}
      <InputProblem id={problemId} problem={problem} />
      <div className="flex flex-wrap items-center gap-3">
        <Button disabled={busy} look="primary" type="submit">
          <PlayIcon />
          {busy ? "Starting" : "Run"}
        </Button>
        <span className="text-muted">
          {target.maxCredits === null
            ? "No cap on credits"
            : `At most ${formatCredits(target.maxCredits)} credits`}
          {usual === NONE ? null : `, usually ${usual}`}
        </span>
      </div>
    </form>
  );
}
