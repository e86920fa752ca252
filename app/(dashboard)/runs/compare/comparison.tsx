"use client";

import { useQuery } from "@tanstack/react-query";
import clsx from "clsx";
import dynamic from "next/dynamic";
import { type ReactNode, useMemo, useState } from "react";
import { buttonClass } from "@/app/_ui/button";
import { useTRPC } from "@/app/_ui/data/providers";
import {
  formatCount,
  formatCredits,
  formatDifference,
  formatDuration,
  formatUsed,
  NONE,
  shortId,
} from "@/app/_ui/figures/format";
import { Status, StatusShape } from "@/app/_ui/figures/status";
import { Elapsed, Moment } from "@/app/_ui/figures/time";
import { Link } from "@/app/_ui/link";
import { DetailHead } from "@/app/_ui/page/page";
import { Cell, HeadCell, Table } from "@/app/_ui/table";
import type { RunDetail } from "@/server/runs/read/inspect/inspect";
import { type Line, lineFacts, lineId, linesOf, type WorkLine } from "../[runId]/lines";
import { useLiveRun } from "../[runId]/use-live-run";
import { alignLines, type Pair, slowerBy } from "./align";
import { Failures } from "./failures";
import { TextDifference } from "./text-difference";

const FieldDiff = dynamic(() => import("@/app/_ui/text/field-diff").then((part) => part.FieldDiff));
/** It is loaded with the first step that is opened. */
const Inspector = dynamic(() => import("../[runId]/inspector/inspector").then((part) => part.Inspector), {
  loading: () => null,
});

/** Two runs side by side: figures, text differences and steps, updated until both have ended. */
export function Comparison({ a, b }: { a: string; b: string }) {
  const left = useLiveRun(a);
  const right = useLiveRun(b);
  const pairs = useMemo(() => alignLines(linesOf(left), linesOf(right)), [left, right]);
  // A line of the selected pair. In a live run the other side may appear later.
  const [chosen, setChosen] = useState<string | null>(null);
  const pair = pairs.find((each) => holds(each, chosen));
  return (
    <>
      <DetailHead back={{ href: `/runs/${a}`, label: `Run ${shortId(a)}` }} title="Compare runs">
        <span className="ml-auto flex gap-2">
          <Link className={buttonClass()} href={`/runs/compare?a=${a}`}>
            Other run
          </Link>
          <Link className={buttonClass()} href={`/runs/compare?a=${b}&b=${a}`} replace>
            Swap sides
          </Link>
        </span>
      </DetailHead>
      <FigureRows left={left.run} right={right.run} />
      <Failures left={left} right={right} />
      <ConfigurationDifference a={a} b={b} sameKind={left.run.kind === right.run.kind} />
      <TextDifference label="Input" left={left.run} right={right.run} side="input" />
      <TextDifference label="Output" left={left.run} right={right.run} side="output" />
      <h2 className="px-4 pt-4 pb-2 font-semibold sm:px-6">Step by step</h2>
      <Table label="Steps of both runs">
        <thead>
          <tr>
            <HeadCell>Left</HeadCell>
            <HeadCell>Right</HeadCell>
            <HeadCell className="text-right">Difference</HeadCell>
          </tr>
        </thead>
        <tbody>
          {pairs.map((each) => {
            const line = each.a ?? each.b;
            if (!line) return null;
            return (
              <PairRow
                chosen={each === pair}
                key={lineId(line)}
                onChoose={() => setChosen(each === pair ? null : lineId(line))}
                pair={each}
              />
            );
          })}
        </tbody>
      </Table>
      {pair ? (
        <div className="grid border-line border-t lg:grid-cols-2 lg:divide-x lg:divide-line">
          <PairSide line={pair.a} />
          <PairSide line={pair.b} />
        </div>
      ) : (
        <p className="px-4 py-4 text-muted sm:px-6">Choose a row to see both sides of it.</p>
      )}
    </>
  );
}

function holds({ a, b }: Pair, id: string | null): boolean {
  return id !== null && ((a !== null && lineId(a) === id) || (b !== null && lineId(b) === id));
}

function PairSide({ line }: { line: WorkLine | null }) {
  return (
    <div className="min-w-0">
      {line ? (
        <Inspector line={line} />
      ) : (
        <p className="px-4 py-6 text-muted sm:px-6">This run has no such step.</p>
      )}
    </div>
  );
}

function FigureRows({ left, right }: { left: RunDetail; right: RunDetail }) {
  const rows: [name: string, a: ReactNode, b: ReactNode, difference?: string | null | false][] = [
    ["Run", <RunLink key="a" run={left} />, <RunLink key="b" run={right} />],
    [
      "Status",
      <Status key="a" status={left.status} waiting={left.waiting} />,
      <Status key="b" status={right.status} waiting={right.waiting} />,
      left.status !== right.status && "differs",
    ],
    [
      "Version",
      `v${left.targetVersion}`,
      `v${right.targetVersion}`,
      left.targetVersion !== right.targetVersion && "differs",
    ],
    ["Model", left.model ?? NONE, right.model ?? NONE, left.model !== right.model && "differs"],
    ["Started", <Begin key="a" run={left} />, <Begin key="b" run={right} />],
    [
      "Duration",
      <RunDuration key="a" run={left} />,
      <RunDuration key="b" run={right} />,
      difference(durationOf(left), durationOf(right), formatDuration),
    ],
    [
      "Tokens",
      formatUsed(left.tokens),
      formatUsed(right.tokens),
      difference(left.tokens, right.tokens, formatCount),
    ],
    [
      "Credits",
      formatUsed(left.credits),
      formatUsed(right.credits),
      difference(Number(left.credits), Number(right.credits), (size) => formatCredits(size.toFixed(4))),
    ],
    ["Steps", String(left.steps), String(right.steps), difference(left.steps, right.steps, formatCount)],
  ];
  return (
    <Table className="table-fixed" label="Figures of both runs">
      <thead>
        <tr>
          <HeadCell className="w-24 sm:w-32">Figure</HeadCell>
          <HeadCell>Left</HeadCell>
          <HeadCell>Right</HeadCell>
          <HeadCell className="w-22 text-right sm:w-36">Difference</HeadCell>
        </tr>
      </thead>
      <tbody>
        {rows.map(([name, a, b, change]) => (
          <tr key={name}>
            <th
              className="border-line border-b py-1.5 pl-4 text-left font-normal text-muted sm:pl-6"
              scope="row"
            >
              {name}
            </th>
            <Cell className="h-9">{a}</Cell>
            <Cell className="h-9">{b}</Cell>
            <Cell className="h-9 whitespace-nowrap text-right font-medium">{change || null}</Cell>
          </tr>
        ))}
      </tbody>
    </Table>
  );
}

/** How much larger the right value is, with its sign; null if they are equal or one is missing. */
function difference(a: number | null, b: number | null, write: (size: number) => string): string | null {
  return a === null || b === null || a === b ? null : formatDifference(b - a, write);
}

function durationOf({ startedAt, finishedAt }: RunDetail): number | null {
  return startedAt === null || finishedAt === null ? null : Date.parse(finishedAt) - Date.parse(startedAt);
}

/** The differences between the frozen configurations: prompts, models, versions of attached tools. */
function ConfigurationDifference({ a, b, sameKind }: { a: string; b: string; sameKind: boolean }) {
  const trpc = useTRPC();
  const query = useQuery({ ...trpc.runs.compareConfigurations.queryOptions({ a, b }), enabled: sameKind });
  if (!sameKind) return null;
  const changes = query.data;
  return (
    <section aria-label="Configuration" className="border-line border-b px-4 py-3 sm:px-6">
      <h2 className="pb-1 font-semibold">
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
    <Link className="text-accent hover:underline" href={`/runs/${run.id}`}>
      {run.targetName} <span className="mono whitespace-nowrap">{shortId(run.id)}</span>
    </Link>
  );
}

function Begin({ run }: { run: RunDetail }) {
  return run.startedAt === null ? "–" : <Moment at={run.startedAt} />;
}

function RunDuration({ run }: { run: RunDetail }) {
  return run.startedAt === null ? "–" : <Elapsed from={run.startedAt} to={run.finishedAt} />;
}

function PairRow({ pair, chosen, onChoose }: { pair: Pair; chosen: boolean; onChoose: () => void }) {
  const slower = slowerBy(pair);
  return (
    <tr className={clsx("relative", chosen ? "bg-selected" : "hover:bg-hover")}>
      <Cell>
        <button
          aria-expanded={chosen}
          className="text-left after:absolute after:inset-0"
          onClick={onChoose}
          type="button"
        >
          {pair.a ? <LineLabel line={pair.a} /> : <span className="text-faint">–</span>}
        </button>
      </Cell>
      <Cell>{pair.b ? <LineLabel line={pair.b} /> : <span className="text-faint">–</span>}</Cell>
      <Cell className="text-right text-muted">
        {slower === null ? null : formatDifference(slower, formatDuration)}
      </Cell>
    </tr>
  );
}

function LineLabel({ line }: { line: Line }) {
  const { status, durationMs } = lineFacts(line);
  return (
    <span
      className={clsx(
        "inline-flex flex-wrap items-center gap-x-2",
        line.depth === 1 && "pl-4",
        line.depth === 2 && "pl-8",
      )}
    >
      <StatusShape status={status} />
      <span className={line.kind === "call" ? "text-muted" : "font-medium"}>{line.label}</span>
      <span className="whitespace-nowrap text-muted text-xs tabular-nums">
        {durationMs === null ? "" : formatDuration(durationMs)}
      </span>
    </span>
  );
}
