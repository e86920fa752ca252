import { useQuery } from "@tanstack/react-query";
import clsx from "clsx";
import dynamic from "next/dynamic";
import { type ReactNode, useMemo } from "react";
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
import { type LineColumn, LineList } from "@/app/_ui/table";
import type { RunDetail } from "@/server/runs/read/inspect/inspect";
import { useLiveRun } from "../[runId]/use-live-run";
import { alignRuns, type Pair } from "./align";
import { Failures } from "./failures";
import { TextDifference } from "./text-difference";

const FieldDiff = dynamic(() => import("@/app/_ui/text/field-diff").then((part) => part.FieldDiff));
const Inspector = dynamic(() => import("../[runId]/inspector/inspector").then((part) => part.Inspector), {
  loading: () => null,
});

/** Two runs side by side: figures, text differences and steps, updated until both have ended. */
export function Comparison({ a, b }: { a: string; b: string }) {
  const left = useLiveRun(a);
  const right = useLiveRun(b);
  const pairs = useMemo(() => alignRuns(left, right), [left, right]);
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
      <TextDifference field="input" left={left.run} right={right.run} />
      <TextDifference field="output" left={left.run} right={right.run} />
      <h2 className="px-4 pt-4 pb-2 font-semibold sm:px-6">Step by step</h2>
      <LineList
        columns={PAIR_COLUMNS}
        detailsOf={(pair) => <BothSides pair={pair} />}
        form="table"
        keyOf={({ a, b }) => (a ?? b)?.id ?? ""}
        label="Steps of both runs"
        lines={pairs}
      />
    </>
  );
}

const PAIR_COLUMNS: LineColumn<Pair>[] = [
  { head: "Left", area: "line", cell: ({ a }) => <LineLabel line={a} /> },
  { head: "Right", area: "line", cell: ({ b }) => <LineLabel line={b} /> },
  {
    head: "Difference",
    width: "w-24 sm:w-36",
    area: "end",
    look: "figure",
    cell: ({ a, b }) => {
      const [before, after] = [a?.durationMs ?? null, b?.durationMs ?? null];
      return before === null || after === null ? null : (
        <span className="text-muted">{formatDifference(after - before, formatDuration)}</span>
      );
    },
  },
];

function BothSides({ pair }: { pair: Pair }) {
  return (
    <div className="grid lg:grid-cols-2 lg:divide-x lg:divide-line">
      {([pair.a, pair.b] as const).map((line, side) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the left and the right side.
        <div className="min-w-0" key={side}>
          {line ? (
            <Inspector line={line} />
          ) : (
            <p className="px-4 py-6 text-muted sm:px-6">This run has no such step.</p>
          )}
        </div>
      ))}
    </div>
  );
}

type ComparedFigure = {
  name: string;
  value?: (run: RunDetail) => string | number | null;
  show?: (run: RunDetail) => ReactNode;
  format?: (size: number) => string;
};

const FIGURES: ComparedFigure[] = [
  {
    name: "Run",
    show: (run) => (
      <Link className="text-accent hover:underline" href={`/runs/${run.id}`}>
        {run.targetName} <span className="mono whitespace-nowrap">{shortId(run.id)}</span>
      </Link>
    ),
  },
  {
    name: "Status",
    value: ({ status }) => status,
    show: ({ status, waiting }) => <Status status={status} waiting={waiting} />,
  },
  { name: "Version", value: ({ targetVersion }) => `v${targetVersion}` },
  { name: "Model", value: ({ model }) => model },
  { name: "Started", show: ({ startedAt }) => (startedAt === null ? NONE : <Moment at={startedAt} />) },
  {
    name: "Duration",
    value: ({ startedAt, finishedAt }) =>
      startedAt === null || finishedAt === null ? null : Date.parse(finishedAt) - Date.parse(startedAt),
    show: ({ startedAt, finishedAt }) =>
      startedAt === null ? NONE : <Elapsed from={startedAt} to={finishedAt} />,
    format: formatDuration,
  },
  {
    name: "Tokens",
    value: ({ tokens }) => tokens,
    show: ({ tokens }) => formatUsed(tokens),
    format: formatCount,
  },
  {
    name: "Credits",
    value: ({ credits }) => Number(credits),
    show: ({ credits }) => formatUsed(credits),
    format: (size) => formatCredits(size.toFixed(4)),
  },
  { name: "Steps", value: ({ steps }) => steps, format: formatCount },
];

function differenceOf(
  a: string | number | null,
  b: string | number | null,
  format: ComparedFigure["format"],
): string | null {
  if (a === b) return null;
  if (!format) return "differs";
  return typeof a === "number" && typeof b === "number" ? formatDifference(b - a, format) : null;
}

function FigureRows({ left, right }: { left: RunDetail; right: RunDetail }) {
  return (
    <LineList
      columns={figureColumns(left, right)}
      form="table"
      keyOf={({ name }) => name}
      label="Figures of both runs"
      lines={FIGURES}
    />
  );
}

function figureColumns(left: RunDetail, right: RunDetail): LineColumn<ComparedFigure>[] {
  const readValue = (run: RunDetail, { value }: ComparedFigure) => value?.(run) ?? null;
  const shown = (run: RunDetail, figure: ComparedFigure) =>
    figure.show?.(run) ?? readValue(run, figure) ?? NONE;
  return [
    {
      head: "Figure",
      width: "w-24 sm:w-32",
      area: "line",
      look: "muted",
      cell: ({ name }) => name,
    },
    { head: "Left", area: "line", cell: (figure) => shown(left, figure) },
    { head: "Right", area: "line", cell: (figure) => shown(right, figure) },
    {
      head: "Difference",
      width: "w-22 sm:w-36",
      area: "end",
      look: "figure",
      cell: (figure) => (
        <span className="font-medium">
          {differenceOf(readValue(left, figure), readValue(right, figure), figure.format)}
        </span>
      ),
    },
  ];
}

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
          {query.isError ? ": could not load it" : changes?.length === 0 ? ": the same" : ""}
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

function LineLabel({ line }: { line: Pair["a"] }) {
  if (line === null) return <span className="text-faint">{NONE}</span>;
  const { kind, label, depth, status, durationMs } = line;
  return (
    <span
      className={clsx(
        "inline-flex flex-wrap items-center gap-x-2",
        depth === 1 && "pl-4",
        depth === 2 && "pl-8",
      )}
    >
      <StatusShape status={status} />
      <span className={kind === "call" ? "text-muted" : "font-medium"}>{label}</span>
      <span className="whitespace-nowrap text-muted text-xs tabular-nums">
        {durationMs === null ? "" : formatDuration(durationMs)}
      </span>
    </span>
  );
}
