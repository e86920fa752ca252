import { useQuery } from "@tanstack/react-query";
import { useTRPC } from "@/app/_ui/data/providers";
import { formatCredits } from "@/app/_ui/figures/format";
import { listProblems } from "@/app/_ui/forms/form-problems";
import { SparkIcon, WarningIcon, WrenchIcon } from "@/app/_ui/icons";
import { useRested } from "@/app/_ui/use-rested";
import type { RunDetail } from "@/server/runs/read/inspect/inspect";
import type { WorkLine } from "../lines";
import { FORK_LABELS, type ForkBase, type ForkDraft } from "./fork-draft";
import type { ForkPoint } from "./fork-point";

/** More lines are only counted. */
const SHOWN = 8;

/** The steps that a fork takes over, its side effects and its cost, before it starts. */
export function ForkEffects({
  run,
  point,
  own,
  base,
  draft,
}: {
  run: RunDetail;
  point: ForkPoint;
  own: readonly WorkLine[];
  base: ForkBase;
  draft: ForkDraft;
}) {
  const model = useRested(draft.model, 500);
  const { tools, toolVersion } = draft;
  const changes = {
    ...(model === null || model === base.model || model.trim() === "" ? {} : { model }),
    ...(toolVersion === base.toolVersion ? {} : { toolVersion }),
  };
  const input = { runId: run.id, fromStep: point.fromStep, tools, changes };
  const query = useQuery(
    useTRPC().runs.forkEstimate.queryOptions(input, { placeholderData: (last) => last }),
  );
  if (query.isError) return <p className="text-failed">{listProblems(query.error, FORK_LABELS)}</p>;
  const estimate = query.data;
  const first = own.find((line) => line.kind === "step" && line.step.number === estimate?.fromStep);
  const iteration = first?.kind === "step" ? first.step.iteration : Number.POSITIVE_INFINITY;
  const isBefore = (line: WorkLine) =>
    line.kind === "step"
      ? line.step.number < (estimate?.fromStep ?? 0)
      : run.kind === "agent" && line.call.iteration < iteration;
  const taken = estimate === undefined ? [] : own.filter(isBefore);
  return (
    <>
      <section>
        <h3 className="pb-1 font-medium">Taken over, costs nothing</h3>
        {taken.length === 0 ? (
          <p className="text-muted">Nothing. The run starts from its beginning.</p>
        ) : null}
        <ol className="flex flex-col gap-0.5">
          {taken.slice(-SHOWN).map((line) => (
            <li className="flex items-center gap-2" key={line.id}>
              {line.kind === "step" ? <WrenchIcon /> : <SparkIcon />}
              <span className="truncate">{line.label}</span>
            </li>
          ))}
        </ol>
        {taken.length > SHOWN ? <p className="text-muted">and {taken.length - SHOWN} before them</p> : null}
      </section>
      <section>
        <h3 className="pb-1 font-medium">Effects from here on</h3>
        {tools === "recorded" ? (
          <p className="text-muted">None: calls are answered from the record.</p>
        ) : query.isPlaceholderData ? null : estimate?.sideEffects.length === 0 ? (
          <p className="text-muted">None of its functions and tools changes anything outside.</p>
        ) : (
          <ul className="flex flex-col gap-0.5">
            {estimate?.sideEffects.map(({ name, step }) => (
              <li className="flex items-center gap-2 text-waiting" key={`${step} ${name}`}>
                <WarningIcon />
                <span className="truncate">
                  {step === null ? name : `${step}: ${name}`}
                  <span className="sr-only"> may be called for real</span>
                </span>
              </li>
            ))}
          </ul>
        )}
      </section>
      {estimate === undefined ? null : (
        <dl className="grid grid-cols-[1fr_auto] gap-x-3">
          <dt className="text-muted">At most</dt>
          <dd className="tabular-nums">{formatCredits(estimate.mostCredits)} credits</dd>
          <dt className="text-muted">With the same use</dt>
          <dd className="tabular-nums">{formatCredits(estimate.sameUsage)} credits</dd>
        </dl>
      )}
    </>
  );
}
