import clsx from "clsx";
import { Status } from "@/app/_ui/figures/status";
import { isTerminal } from "@/server/contract/enums";
import type { RunInspection } from "@/server/runs/read/inspect/inspect";
import { hasFailed, workRowsOf } from "../[runId]/lines";
import { explainRunFailure } from "../[runId]/result/explain-failure";
import { FailedLine } from "../[runId]/result/failure";

/** The errors of one or both runs, side by side; nothing if neither failed. */
export function Failures({ left, right }: { left: RunInspection; right: RunInspection }) {
  if (left.run.status !== "Failed" && right.run.status !== "Failed") return null;
  return (
    <section aria-label="Error" className="border-line border-b px-4 py-3 sm:px-6">
      <h2 className="pb-1 font-semibold">Error</h2>
      <div className="grid gap-3 lg:grid-cols-2">
        <Side inspection={left} name="Left" />
        <Side inspection={right} name="Right" />
      </div>
    </section>
  );
}

function Side({ name, inspection }: { name: string; inspection: RunInspection }) {
  const { run } = inspection;
  const failed = run.status === "Failed";
  const where = failed ? workRowsOf(inspection).findLast(hasFailed) : undefined;
  return (
    <div
      className={clsx(
        "flex min-w-0 flex-col gap-1 rounded-lg border border-line px-3 py-2",
        failed && "bg-failed-wash",
      )}
    >
      <h3 className="text-muted text-xs">{name}</h3>
      {failed ? (
        <p className="font-medium text-failed">
          {explainRunFailure(run, where?.kind === "step" ? where.step.name : null).sentence}
        </p>
      ) : isTerminal(run.status) ? (
        <p className="text-muted">none: it ended as {run.status}</p>
      ) : (
        <p className="text-muted">
          none so far: <Status className="inline-flex" status={run.status} waiting={run.waiting} />
        </p>
      )}
      {where ? (
        <p>
          <FailedLine line={where} />
        </p>
      ) : null}
      {failed && run.errorMessage ? (
        <pre
          className="mono max-h-72 overflow-auto whitespace-pre-wrap [overflow-wrap:anywhere]"
          // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard.
          tabIndex={0}
        >
          {run.errorMessage.trim()}
        </pre>
      ) : null}
    </div>
  );
}
