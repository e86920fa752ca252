"use client";

import { useQuery, useSuspenseQuery } from "@tanstack/react-query";
import Link from "next/link";
import { type ReactNode, useMemo, useState } from "react";
import { classNames } from "@/app/_ui/class-names";
import { diffLines } from "@/app/_ui/diff";
import { FieldDiff } from "@/app/_ui/field-diff";
import { formatCount, formatCredits, formatDuration, shortId } from "@/app/_ui/format";
import { PageHead } from "@/app/_ui/page";
import { useTRPC } from "@/app/_ui/providers";
import { Status, StatusShape } from "@/app/_ui/status";
import { Cell, HeadCell, Table } from "@/app/_ui/table";
import { Moment } from "@/app/_ui/time";
import type { RunDetail } from "@/server/runs/inspect";
import type { LongText } from "@/server/runs/long-text";
import { Inspector } from "../[runId]/inspector";
import { type Line, lineFacts, lineId, linesOf } from "../[runId]/timeline-lines";
import { alignLines, type Pair, slowerBy } from "./align";

/** Two runs side by side: figures, texts with their differences, and step by step. */
export function Comparison({ a, b }: { a: string; b: string }) {
  const trpc = useTRPC();
  const left = useSuspenseQuery(trpc.runs.inspect.queryOptions({ runId: a })).data;
  const right = useSuspenseQuery(trpc.runs.inspect.queryOptions({ runId: b })).data;
  const pairs = useMemo(() => alignLines(linesOf(left), linesOf(right)), [left, right]);
  const [chosen, setChosen] = useState<number | null>(null);
  const pair = chosen === null ? undefined : pairs[chosen];
  return (
    <>
      <PageHead title="Compare runs">
        <Link className="text-accent hover:underline" href={`/runs/compare?a=${b}&b=${a}`} replace>
          Swap sides
        </Link>
      </PageHead>
      <FigureRows left={left.run} right={right.run} />
      <ConfigurationDifference a={a} b={b} sameKind={left.run.kind === right.run.kind} />
      <TextDifference label="Input" left={left.run.input} right={right.run.input} />
      <TextDifference label="Output" left={left.run.output} right={right.run.output} />
      <h2 className="px-4 pt-4 pb-2 font-medium sm:px-6">Step by step</h2>
      <Table label="Steps of both runs">
        <thead>
          <tr>
            <HeadCell>Left</HeadCell>
            <HeadCell>Right</HeadCell>
            <HeadCell className="text-right">Difference</HeadCell>
          </tr>
        </thead>
        <tbody>
          {pairs.map((each, index) => (
            <PairRow
              chosen={chosen === index}
              key={`${each.a ? lineId(each.a) : ""} ${each.b ? lineId(each.b) : ""}`}
              onChoose={() => setChosen(chosen === index ? null : index)}
              pair={each}
            />
          ))}
        </tbody>
      </Table>
      {pair ? (
        <div className="grid border-line border-t lg:grid-cols-2 lg:divide-x lg:divide-line">
          <div className="min-w-0">{pair.a ? <Inspector line={pair.a} /> : <Missing />}</div>
          <div className="min-w-0">{pair.b ? <Inspector line={pair.b} /> : <Missing />}</div>
        </div>
      ) : (
        <p className="px-4 py-4 text-muted sm:px-6">Choose a row to see both sides of it.</p>
      )}
    </>
  );
}

function Missing() {
  return <p className="px-4 py-6 text-muted sm:px-6">This run has no such step.</p>;
}

function FigureRows({ left, right }: { left: RunDetail; right: RunDetail }) {
  const rows: [string, ReactNode, ReactNode, boolean][] = [
    ["Run", <RunLink key="a" run={left} />, <RunLink key="b" run={right} />, false],
    [
      "Status",
      <Status key="a" status={left.status} />,
      <Status key="b" status={right.status} />,
      left.status !== right.status,
    ],
    [
      "Version",
      `v${left.targetVersion}`,
      `v${right.targetVersion}`,
      left.targetVersion !== right.targetVersion,
    ],
    ["Model", left.model ?? "—", right.model ?? "—", left.model !== right.model],
    ["Created", <Moment at={left.createdAt} key="a" />, <Moment at={right.createdAt} key="b" />, false],
    ["Duration", took(left), took(right), false],
    ["Tokens", formatCount(left.tokens), formatCount(right.tokens), left.tokens !== right.tokens],
    ["Credits", formatCredits(left.credits), formatCredits(right.credits), left.credits !== right.credits],
    ["Steps", String(left.steps), String(right.steps), left.steps !== right.steps],
  ];
  return (
    <Table className="table-fixed" label="Figures of both runs">
      <tbody>
        {rows.map(([name, a, b, differs]) => (
          <tr key={name}>
            <th
              className="w-24 border-line border-b py-1.5 pl-4 text-left font-normal text-muted sm:w-32 sm:pl-6"
              scope="row"
            >
              {name}
            </th>
            <Cell className={classNames("h-9", differs && "bg-accent-wash")}>{a}</Cell>
            <Cell className={classNames("h-9", differs && "bg-accent-wash")}>{b}</Cell>
          </tr>
        ))}
      </tbody>
    </Table>
  );
}

/** What of the configurations frozen into the two differs: prompts, models, the versions of attached tools. */
function ConfigurationDifference({ a, b, sameKind }: { a: string; b: string; sameKind: boolean }) {
  const trpc = useTRPC();
  const query = useQuery({ ...trpc.runs.compareConfigurations.queryOptions({ a, b }), enabled: sameKind });
  if (!sameKind) return null;
  const changes = query.data;
  return (
    <section aria-label="Configuration" className="border-line border-b px-4 py-3 sm:px-6">
      <h2 className="pb-1 font-medium">
        Configuration
        <span className="font-normal text-muted">
          {query.isError ? ": it could not be read" : changes?.length === 0 ? ": the same" : ""}
        </span>
      </h2>
      <div className="flex flex-col gap-3">
        {changes?.map((change) => (
          <FieldDiff change={change} key={change.field} />
        ))}
      </div>
    </section>
  );
}

function RunLink({ run }: { run: RunDetail }) {
  return (
    <Link className="text-accent hover:underline" href={`/runs/${run.id}`} prefetch={false}>
      {run.targetName} <span className="mono">{shortId(run.id)}</span>
    </Link>
  );
}

function took(run: RunDetail): string {
  if (!run.startedAt || !run.finishedAt) return "—";
  return formatDuration(new Date(run.finishedAt).getTime() - new Date(run.startedAt).getTime());
}

function TextDifference({
  label,
  left,
  right,
}: {
  label: string;
  left: LongText | null;
  right: LongText | null;
}) {
  const a = readable(left);
  const b = readable(right);
  const lines = useMemo(() => (a === b ? null : diffLines(a, b)), [a, b]);
  const cut = left?.cut || right?.cut;
  return (
    <section aria-label={label} className="border-line border-b px-4 py-3 sm:px-6">
      <h2 className="pb-1 font-medium">
        {label}
        {a === b ? (
          <span className="font-normal text-muted">{cut ? ": the starts are the same" : ": the same"}</span>
        ) : null}
      </h2>
      {a === b ? null : lines ? (
        <section
          aria-label={`Differences of the ${label.toLowerCase()}`}
          className="mono max-h-96 overflow-auto"
          // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling region has to take the focus.
          tabIndex={0}
        >
          {lines.map((line, index) => (
            <div
              className={classNames(
                "whitespace-pre-wrap pl-5 -indent-4 [overflow-wrap:anywhere]",
                line.kind === "left" && "bg-failed-wash",
                line.kind === "right" && "bg-added-wash",
              )}
              // biome-ignore lint/suspicious/noArrayIndexKey: the lines of two fixed texts.
              key={index}
            >
              <span aria-hidden="true" className="select-none text-muted">
                {line.kind === "left" ? "− " : line.kind === "right" ? "+ " : "  "}
              </span>
              {line.kind === "same" ? null : (
                <span className="sr-only">{line.kind === "left" ? "only left: " : "only right: "}</span>
              )}
              {line.text}
            </div>
          ))}
        </section>
      ) : (
        <p className="text-muted">The two have hardly a line in common.</p>
      )}
    </section>
  );
}

/** JSON by lines, so that single values can differ; other texts as they are. */
function readable(text: LongText | null): string {
  if (!text) return "";
  if (text.cut) return text.text;
  try {
    return JSON.stringify(JSON.parse(text.text), null, 2);
  } catch {
    return text.text;
  }
}

function PairRow({ pair, chosen, onChoose }: { pair: Pair; chosen: boolean; onChoose: () => void }) {
  const difference = slowerBy(pair);
  return (
    <tr className={classNames("relative", chosen ? "bg-selected" : "hover:bg-hover")}>
      <Cell>
        <button
          aria-expanded={chosen}
          className="text-left after:absolute after:inset-0"
          onClick={onChoose}
          type="button"
        >
          {pair.a ? <LineLabel line={pair.a} /> : <span className="text-faint">—</span>}
        </button>
      </Cell>
      <Cell>{pair.b ? <LineLabel line={pair.b} /> : <span className="text-faint">—</span>}</Cell>
      <Cell className="mono text-right text-muted">
        {difference === null
          ? ""
          : difference === 0
            ? "0 ms"
            : `${difference > 0 ? "+" : "−"}${formatDuration(Math.abs(difference))}`}
      </Cell>
    </tr>
  );
}

function LineLabel({ line }: { line: Line }) {
  const { status, durationMs } = lineFacts(line);
  return (
    <span
      className={classNames(
        "inline-flex items-center gap-2",
        line.depth === 1 && "pl-4",
        line.depth === 2 && "pl-8",
      )}
    >
      <StatusShape status={status} />
      <span className={line.kind === "call" ? "text-muted" : "font-medium"}>{line.label}</span>
      <span className="mono text-muted text-xs">{durationMs === null ? "" : formatDuration(durationMs)}</span>
    </span>
  );
}
