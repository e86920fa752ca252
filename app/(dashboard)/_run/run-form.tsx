import { useQuery } from "@tanstack/react-query";
import type { KeyboardEvent } from "react";
import { Button } from "@/app/_ui/button";
import { useTRPC } from "@/app/_ui/data/providers";
import type { ShownError } from "@/app/_ui/data/query-client";
import { formatCredits, NONE } from "@/app/_ui/figures/format";
import { PlayIcon } from "@/app/_ui/icons";
import { weekQuery } from "../_definitions/query";
import { formatPerRun } from "../_definitions/week";

/** What the forms that start agents and tools share. */

/** What a run panel starts. `parameters`: a tool's JSON Schema, as JSON. */
export type RunTarget = {
  kind: "agent" | "tool";
  id: string;
  name: string;
  maxCredits: string | null;
  active: boolean;
  parameters: string | null;
};

export type FormProps = {
  target: RunTarget;
  busy: boolean;
  problem: ShownError | null;
  onRun: (input: string) => void;
};

/** Starts the run, and says what it may cost. */
export function RunButton({ busy, target }: { busy: boolean; target: RunTarget }) {
  const trpc = useTRPC();
  const week = useQuery(weekQuery(trpc, target));
  const usual = week.data ? formatPerRun(week.data.total) : NONE;
  return (
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
  );
}

/** Ctrl or Command with Enter submits. */
export function submitOnEnter(event: KeyboardEvent<HTMLFormElement>) {
  if (event.key !== "Enter" || !(event.metaKey || event.ctrlKey)) return;
  event.preventDefault();
  event.currentTarget.requestSubmit();
}
