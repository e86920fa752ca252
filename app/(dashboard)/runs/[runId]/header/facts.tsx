import clsx from "clsx";
import { type ReactNode, useState } from "react";
import {
  formatCount,
  formatCredits,
  formatPlural,
  formatTokens,
  formatUsed,
  NONE,
  shortId,
} from "@/app/_ui/figures/format";
import { Elapsed, Moment } from "@/app/_ui/figures/time";
import { ChevronDownIcon } from "@/app/_ui/icons";
import { lazy } from "@/app/_ui/lazy";
import { Link } from "@/app/_ui/link";
import { usePageActions } from "@/app/_ui/page/page-actions";
import { isTerminal } from "@/server/contract/enums";
import type { RunDetail } from "@/server/runs/read/inspect/inspect";
import type { CallLine } from "@/server/runs/read/inspect/lines";
import { writeFilter } from "../../address";
import { targetPath } from "../../query";
import { describeSource, QueuedFor } from "../../started";
import { sumCached } from "../measures";

const Configuration = lazy(() => import("./configuration"), "Configuration");

const AT_ONCE_MS = 1_000;

/**
 * The source and usage of a run: a strip, on a phone a list. Each fact has its place from the start, so that nothing
 * moves. `calls`: the run's own model calls.
 */
export function RunFacts({ run, calls }: { run: RunDetail; calls: readonly CallLine[] }) {
  const iterations = Math.max(0, ...calls.map(({ iteration }) => iteration));
  const cached = sumCached(calls);
  const fallbacks = [...new Set(calls.flatMap(({ fellBack, model }) => (fellBack ? [model] : [])))];
  const ended = isTerminal(run.status);
  // A phone shows one line of them, so that the steps stay near.
  const [open, setOpen] = useState(false);
  const startedBy = run.triggerId
    ? `/runs?trigger=${run.triggerId}`
    : run.scheduleId
      ? `/runs?schedule=${run.scheduleId}`
      : run.apiKeyId
        ? `/runs?key=${run.apiKeyId}`
        : null;
  return (
    <section aria-label="Facts" className="border-line max-lg:border-t lg:border-b">
      <button
        aria-expanded={open}
        className="flex w-full items-center gap-3 px-4 py-2.5 text-left text-muted sm:px-6 lg:hidden"
        onClick={() => setOpen(!open)}
        type="button"
      >
        <span className="text-ink tabular-nums">
          <Duration run={run} />
        </span>
        <span className="truncate">
          {run.tokens === 0 ? null : `${formatPlural(run.tokens, "token")}, `}
          {formatUsed(run.credits)} credits
        </span>
        <ChevronDownIcon className={clsx("ml-auto shrink-0", open && "rotate-180")} />
        <span className="sr-only">Facts</span>
      </button>
      <div
        className={clsx(
          "grid grid-cols-2 content-start gap-x-6 gap-y-4 px-4 py-4 sm:px-6 lg:gap-x-4 lg:gap-y-1 lg:py-2.5",
          run.model
            ? "lg:grid-cols-5 xl:grid-cols-[1.2fr_1.1fr_1.1fr_1.2fr_.9fr_.75fr_1.15fr_1fr_1.05fr]"
            : "lg:grid-cols-4 xl:grid-cols-[1.3fr_1.2fr_1.2fr_1fr_.8fr_1.15fr_1.1fr_.8fr]",
          !open && "max-lg:hidden",
        )}
      >
        <Group title="Origin">
          <Row
            name={run.kind === "agent" ? "Agent" : "Tool"}
            note={
              run.currentVersion !== null &&
              run.currentVersion !== run.targetVersion &&
              `now v${run.currentVersion}`
            }
          >
            <Target run={run} />
          </Row>
          {run.model ? (
            <Row name={fallbacks.length === 0 ? "Model" : "Models"}>
              <span title={[run.model, ...fallbacks].join(", ")}>{[run.model, ...fallbacks].join(", ")}</span>
            </Row>
          ) : null}
          <Row name="Started by">
            <MaybeLink href={startedBy} text={describeSource(run)} />
          </Row>
          {run.parentRunId ? (
            <Row name="Parent run" second>
              <RunLink id={run.parentRunId} />
            </Row>
          ) : null}
          <Forks run={run} />
          <Times run={run} />
        </Group>
        {run.metadata.length > 0 ? (
          <Group title="Metadata">
            {run.metadata.map(([key, value]) => (
              <Row key={key} name={key} second>
                <MaybeLink
                  href={
                    value.trim() === ""
                      ? null
                      : `/runs${writeFilter({ source: "outside", metadata: { [key]: value } })}`
                  }
                  text={value}
                />
              </Row>
            ))}
          </Group>
        ) : null}
        <Group title={ended ? "Use" : "Use so far"}>
          <Row name="Duration">
            <Duration run={run} />
          </Row>
          <Row
            name="Tokens"
            note={
              run.tokens > 0 &&
              (cached > 0 ? `${formatCount(cached)} cached` : formatTokens(run.inputTokens, run.outputTokens))
            }
          >
            {formatUsed(run.tokens)}
          </Row>
          <Row
            name="Credits"
            note={
              run.children > 0 &&
              `${formatCredits(run.creditsWithChildren)} with ${formatPlural(run.children, "child run")}`
            }
          >
            {formatUsed(run.credits)}
          </Row>
          <Row name="Steps" note={iterations > 0 && `in ${formatPlural(iterations, "iteration")}`}>
            {formatCount(run.steps)}
          </Row>
        </Group>
      </div>
    </section>
  );
}

function Duration({ run: { startedAt, finishedAt } }: { run: RunDetail }) {
  return startedAt === null ? NONE : <Elapsed from={startedAt} lively to={finishedAt} />;
}

function Group({ title, children }: { title: string; children: ReactNode }) {
  return (
    <div className="lg:contents">
      <h2 className="pb-1.5 font-semibold lg:sr-only">{title}</h2>
      <dl className="flex flex-col max-sm:gap-1 lg:contents">{children}</dl>
    </div>
  );
}

type RowProps = {
  name: string;
  note?: string | false;
  wraps?: boolean;
  second?: boolean;
  children: ReactNode;
};

function Row({ name, note, wraps = false, second = false, children }: RowProps) {
  return (
    <div
      className={clsx(
        "min-w-0 sm:max-lg:grid sm:max-lg:min-h-6 sm:max-lg:grid-cols-[4.5rem_minmax(0,1fr)] sm:max-lg:items-baseline sm:max-lg:gap-x-2",
        // Space for the note, which may come later.
        second ? "lg:order-1" : "lg:min-h-13",
      )}
    >
      <dt className="truncate text-muted max-sm:text-xs lg:text-xs" title={name}>
        {name}
      </dt>
      <dd className={clsx("min-w-0", wraps ? "[overflow-wrap:anywhere]" : "truncate")}>
        {children}
        {note ? (
          <span className={clsx("text-muted lg:block lg:text-xs", !wraps && "lg:truncate")} title={note}>
            {" "}
            {note}
          </span>
        ) : null}
      </dd>
    </div>
  );
}

function Target({ run }: { run: RunDetail }) {
  return (
    <span className="flex">
      <MaybeLink href={run.currentVersion === null ? null : targetPath(run)} text={run.targetName} />
      <span className="shrink-0 whitespace-pre">
        {", "}
        <Version run={run} />
      </span>
    </span>
  );
}

function Forks({ run: { id, fork, forks } }: { run: RunDetail }) {
  return (
    <>
      {fork === null ? null : (
        <Row name="Fork of" note={`from step ${fork.fromStep}, ${fork.tools}`} second wraps>
          {fork.isStored ? (
            <>
              <RunLink id={fork.runId} />{" "}
              <Link className="text-accent hover:underline" href={`/runs/compare?a=${fork.runId}&b=${id}`}>
                Compare
              </Link>
            </>
          ) : (
            <span className="mono">{shortId(fork.runId)}</span>
          )}
        </Row>
      )}
      {forks.length === 0 ? null : (
        <Row name="Forks" second>
          <span className="flex flex-wrap gap-x-2">
            {forks.map(({ id: forkId }) => (
              <RunLink id={forkId} key={forkId} />
            ))}
          </span>
        </Row>
      )}
    </>
  );
}

function RunLink({ id }: { id: string }) {
  return (
    <Link className="mono text-accent hover:underline" href={`/runs/${id}`}>
      {shortId(id)}
    </Link>
  );
}

function MaybeLink({ href, text }: { href: string | null; text: string }) {
  // A row cuts an inline block at its edge, so that each cuts its own text.
  const className = "inline-block max-w-full truncate align-bottom";
  if (href === null) {
    return (
      <span className={className} title={text}>
        {text}
      </span>
    );
  }
  return (
    <Link className={clsx(className, "-my-0.5 py-0.5 text-accent hover:underline")} href={href} title={text}>
      {text}
    </Link>
  );
}

function Version({ run }: { run: RunDetail }) {
  const [open, setOpen] = useState(false);
  usePageActions([{ label: "Show the run's configuration", run: () => setOpen(true) }]);
  return (
    <>
      <button
        aria-haspopup="dialog"
        className="underline decoration-line-strong underline-offset-2 hover:text-ink"
        onClick={() => setOpen(true)}
        title="Configuration of this run"
        type="button"
      >
        v{run.targetVersion}
      </button>
      {open ? <Configuration onClose={() => setOpen(false)} run={run} /> : null}
    </>
  );
}

function Times({ run }: { run: RunDetail }) {
  const { createdAt, startedAt, finishedAt, status } = run;
  // If the page opened on a queued run, it keeps showing the creation time.
  const [wasQueued] = useState(startedAt === null);
  const waitedMs = startedAt === null ? null : Date.parse(startedAt) - Date.parse(createdAt);
  const showsCreated = wasQueued || waitedMs === null || waitedMs >= AT_ONCE_MS;
  return (
    <>
      {showsCreated ? (
        <Row name="Created" second>
          <Moment at={createdAt} />
        </Row>
      ) : null}
      <Row name="Started">
        {startedAt !== null ? (
          <Moment at={startedAt} {...(showsCreated ? { after: createdAt } : {})} />
        ) : isTerminal(status) ? (
          "never"
        ) : (
          <QueuedFor since={createdAt} />
        )}
      </Row>
      <Row
        name="Finished"
        wraps
        note={run.cancelledBy !== null && status === "Cancelled" && `cancelled by ${run.cancelledBy}`}
      >
        {finishedAt === null ? NONE : <Moment after={startedAt ?? createdAt} at={finishedAt} />}
      </Row>
    </>
  );
}
