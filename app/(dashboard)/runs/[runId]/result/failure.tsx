import { Link } from "@/app/_ui/link";
import { writeFilter } from "../../address";
import { sameTarget } from "../../query";
import { hasFailed, type WorkLine } from "../lines";
import type { Workbench } from "../use-workbench";
import { explainRunFailure } from "./explain-failure";

const SHORT_CAUSE = 200;

/** The head of a failed run's page: what happened, where, the original message, and what to try. */
export function Failure({ bench: { run, own, chosen, choose } }: { bench: Workbench }) {
  const where = own.findLast(hasFailed);
  const { sentence, advice, links } = explainRunFailure(run, where?.kind === "step" ? where.step.name : null);
  return (
    <section
      aria-label="Failure"
      className="flex flex-col gap-1 rounded-lg border border-failed-line bg-failed-wash px-4 py-3"
    >
      <p className="font-medium text-failed">{sentence}</p>
      {where ? (
        <p>
          <FailedLine line={where} />
          {run.kind === "agent" && where.kind === "step" ? `, iteration ${where.step.iteration}` : ""}.{" "}
          {chosen?.id === where.id ? null : (
            <button className="text-accent underline" onClick={() => choose(where)} type="button">
              Show it
            </button>
          )}
        </p>
      ) : null}
      {run.errorMessage ? <Cause text={run.errorMessage.trim()} /> : null}
      <p className="text-muted">{advice}</p>
      <p className="flex flex-wrap gap-x-4">
        {links.map(({ href, label }) => (
          <Link className="text-accent underline" href={href} key={href}>
            {label}
          </Link>
        ))}
        {run.lastGoodRunId ? (
          <Link className="text-accent underline" href={`/runs/compare?a=${run.lastGoodRunId}&b=${run.id}`}>
            Compare with the last successful run
          </Link>
        ) : null}
        <Link
          className="text-accent underline"
          href={`/runs${writeFilter({ ...sameTarget(run), status: ["Failed"] })}`}
        >
          Other failures of this {run.kind}
        </Link>
      </p>
    </section>
  );
}

export function FailedLine({ line }: { line: WorkLine }) {
  const isStep = line.kind === "step";
  return (
    <>
      In {isStep ? `step ${line.step.number}, ` : ""}
      <span className={isStep ? "mono" : "lowercase"}>{line.label}</span>
    </>
  );
}

function Cause({ text }: { text: string }) {
  if (text.length <= SHORT_CAUSE && !text.includes("\n")) {
    return <p className="mono [overflow-wrap:anywhere]">{text}</p>;
  }
  return (
    <details>
      <summary className="w-fit cursor-pointer text-muted hover:text-ink">Full error</summary>
      <pre
        className="mono mt-1 max-h-72 overflow-auto whitespace-pre-wrap [overflow-wrap:anywhere]"
        // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard.
        tabIndex={0}
      >
        {text}
      </pre>
    </details>
  );
}
