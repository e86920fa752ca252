"use client";

import { useQuery } from "@tanstack/react-query";
import { type ReactNode, useContext, useEffect, useEffectEvent } from "react";
import { useTRPC } from "@/app/_ui/data/providers";
import { describeError } from "@/app/_ui/data/query-client";
import { formatPlural } from "@/app/_ui/figures/format";
import { StatusShape } from "@/app/_ui/figures/status";
import { JsonView } from "@/app/_ui/json/view";
import { SkeletonLine } from "@/app/_ui/page/page";
import { isTerminal } from "@/server/contract/enums";
import { InspectedOutcome } from "../../../_run/run-outcome";
import { describeSkip } from "../../../runs/[runId]/describe-skip";
import { LineDuration } from "../../../runs/[runId]/inspector/parts";
import { isStep, linesOf, type WorkLine } from "../../../runs/[runId]/lines";
import { useLiveRun } from "../../../runs/[runId]/use-live-run";
import { LastOutputsContext } from "../knowledge/last-outputs";
import type { PinState } from "../knowledge/pins";
import type { StepView } from "../tool-document";
import { PinButton } from "./pinned-outputs";
import { groupByStep } from "./results-by-step";

type StepLineOf = WorkLine & { kind: "step" };

type StepResultsProps = {
  runId: string;
  steps: readonly StepView[];
  nameOf: (id: string) => string;
  note: string | null;
  pinState: PinState;
  onEnd: (runId: string) => void;
};

/** A run with the output of each of its steps, which can be pinned. */
export function StepResults({ runId, steps, nameOf, note, pinState, onEnd }: StepResultsProps) {
  const inspection = useLiveRun(runId);
  const isOver = isTerminal(inspection.run.status);
  const report = useEffectEvent(onEnd);
  useEffect(() => {
    if (isOver) report(runId);
  }, [isOver, runId]);
  const last = useContext(LastOutputsContext);
  const { pins, pin, unpin } = pinState;
  const pinButton = (id: string) => {
    const known = last.runId === runId ? last.known.get(id) : undefined;
    if (known === undefined || !steps.some((step) => step.id === id)) return null;
    const isPinned = pins.get(id)?.runId === runId;
    return (
      <PinButton
        id={id}
        isPinned={isPinned}
        onChange={() => (isPinned ? unpin(id) : pin(id, { runId, step: known }))}
      />
    );
  };
  const lines = linesOf(inspection)
    .filter(isStep)
    .map((line) => renameLine(line, nameOf));
  return (
    <div className="flex flex-col gap-3">
      <InspectedOutcome inspection={inspection} nameOf={(key) => renameKey(key, nameOf)} />
      {note === null ? null : <p className="text-muted text-xs [overflow-wrap:anywhere]">{note}</p>}
      <ol aria-label="Results of the steps" className="flex flex-col">
        {groupByStep(lines, steps).map(({ id, lines: calls }) =>
          calls.length === 1 && calls[0]?.step.key === id ? (
            <LineResult key={id} line={calls[0]}>
              {pinButton(id)}
            </LineResult>
          ) : (
            <li className="border-line border-t" key={id}>
              <div className="flex min-h-9 items-center gap-2">
                <span className="mono min-w-0 truncate">{id}</span>
                <span className="flex-1 text-muted">{formatPlural(calls.length, "call")}</span>
                {pinButton(id)}
              </div>
              <ol aria-label={`Calls of ${id}`} className="flex flex-col pl-4">
                {calls.map((line) => (
                  <LineResult key={line.step.id} line={line} />
                ))}
              </ol>
            </li>
          ),
        )}
      </ol>
    </div>
  );
}

function renameKey(key: string, nameOf: (id: string) => string): string {
  const [, id = "", item = ""] = /^(.*?)(\[\d+\])?$/.exec(key) ?? [];
  return nameOf(id) + item;
}

function renameLine(line: StepLineOf, nameOf: (id: string) => string): StepLineOf {
  const key = renameKey(line.step.key, nameOf);
  return { ...line, label: key, step: { ...line.step, key } };
}

function LineResult({ line, children }: { line: StepLineOf; children?: ReactNode }) {
  return (
    <li className="flex items-start gap-1 border-line border-t">
      {line.step.skipped ? (
        <p className="flex min-h-9 items-baseline gap-2 py-2 text-muted">
          <StatusShape status="Skipped" />
          <span className="min-w-0 [overflow-wrap:anywhere]">
            <span className="mono">{line.label}</span> {describeSkip(line.step.skipped)}
          </span>
        </p>
      ) : (
        <>
          <details className="min-w-0 flex-1">
            <summary className="flex min-h-9 cursor-pointer items-center gap-2 hover:bg-hover">
              <StatusShape status={line.status} />
              <span className="mono min-w-0 flex-1 truncate">{line.label}</span>
              <span className="text-muted">
                <LineDuration line={line.step} />
              </span>
            </summary>
            <Result line={line} />
          </details>
          <span className="flex h-9 w-7 shrink-0 items-center">{children}</span>
        </>
      )}
    </li>
  );
}

function Result({ line: { runId, step } }: { line: StepLineOf }) {
  const trpc = useTRPC();
  const query = useQuery(trpc.runs.step.queryOptions({ runId, stepId: step.id }));
  if (query.isError) return <p className="pb-2 text-failed">{describeError(query.error).message}</p>;
  if (!query.data) return <SkeletonLine className="mb-2 w-40" />;
  const { input, output, errorMessage } = query.data;
  return (
    <div className="flex flex-col gap-2 pb-3 pl-6">
      {errorMessage === null ? null : <p className="text-failed [overflow-wrap:anywhere]">{errorMessage}</p>}
      <div>
        <h3 className="text-muted text-xs">Input</h3>
        <JsonView cut={input.cut} text={input.text} />
      </div>
      {output === null ? null : (
        <div>
          <h3 className="text-muted text-xs">Output</h3>
          <JsonView cut={output.cut} text={output.text} />
        </div>
      )}
    </div>
  );
}
