import { formatCount, formatUsed, NONE } from "@/app/_ui/figures/format";
import { Status } from "@/app/_ui/figures/status";
import { Elapsed } from "@/app/_ui/figures/time";
import type { LineColumn } from "@/app/_ui/table";
import { describeSource, Started } from "../../started";
import type { RunLine } from "../run-lines";
import { Preview, RunName } from "../run-name";
import type { Select } from "../selection";
import type { ColumnName } from "./column-choice";

export const HEADS: Record<ColumnName, string> = {
  status: "Status",
  source: "Started by",
  started: "Started",
  duration: "Duration",
  version: "Version",
  model: "Model",
  steps: "Steps",
  tokens: "Tokens",
  credits: "Credits",
};

const COLUMNS: Record<ColumnName, Omit<LineColumn<RunLine>, "head">> = {
  status: {
    width: "w-30 lg:w-28",
    area: "end",
    cell: ({ status, waiting }) => <Status status={status} waiting={waiting} />,
  },
  source: { width: "w-36 2xl:w-44", area: "wide", look: "cut", cell: describeSource },
  started: {
    title: "Sorted by creation, newest first.",
    width: "w-28",
    area: "lastStart",
    look: "muted",
    cell: (run) => (
      <span className="flex min-w-0 gap-2 max-md:pl-6 max-md:text-xs">
        <Started run={run} />
        <Preview on="phone" run={run} />
      </span>
    ),
  },
  duration: {
    width: "w-24",
    area: "last",
    look: "figure",
    cell: ({ startedAt, finishedAt }) => (
      <span className="max-md:text-muted">
        <Elapsed from={startedAt} to={finishedAt} />
      </span>
    ),
  },
  version: {
    width: "w-20",
    area: "wider",
    look: "muted",
    cell: ({ targetVersion }) => `v${targetVersion}`,
  },
  model: { width: "w-36", area: "wider", look: "cut", cell: ({ model }) => model ?? NONE },
  steps: {
    width: "w-16",
    area: "wider",
    look: "figure",
    cell: ({ steps }) => figure(steps, formatCount(steps)),
  },
  tokens: {
    width: "w-20",
    area: "wider",
    look: "figure",
    cell: ({ tokens }) => figure(tokens, formatCount(tokens)),
  },
  credits: {
    title: "With the credits of child runs.",
    width: "w-24",
    area: "none",
    look: "figure",
    cell: ({ creditsWithChildren: credits }) => <span className="text-muted">{formatUsed(credits)}</span>,
  },
};

const figure = (value: number, text: string) => (
  <span className={value === 0 ? "text-faint" : "text-muted"}>{value === 0 ? NONE : text}</span>
);

/** Of a row on a phone, whatever is chosen. */
const PHONE: readonly ColumnName[] = ["status", "started", "duration"];

/** At 1,280 px, more columns leave the run too little room; they need a wider window. */
const MOST_AT_XL = 6;

type RowActions = {
  isSelected: (run: RunLine) => boolean;
  onSelect: Select | undefined;
  onToggle: (run: RunLine) => void;
};

export function runColumns(
  chosen: readonly ColumnName[],
  { isSelected, onSelect, onToggle }: RowActions,
): LineColumn<RunLine>[] {
  const columnOf = (name: ColumnName) => ({ head: HEADS[name], ...COLUMNS[name] });
  const others = chosen.filter((name) => !PHONE.includes(name));
  const tooMany = others.slice(MOST_AT_XL - (chosen.length - others.length));
  const chosenColumn = (name: ColumnName): LineColumn<RunLine> =>
    tooMany.includes(name) ? { ...columnOf(name), area: "widest" } : columnOf(name);
  return [
    {
      head: "Run",
      area: "start",
      cell: (run) => <RunName onSelect={onSelect} onToggle={onToggle} run={run} selected={isSelected(run)} />,
    },
    // Not at the end, where a visible column has the margin.
    ...PHONE.filter((name) => !chosen.includes(name)).map((name) => ({ ...columnOf(name), phoneOnly: true })),
    ...chosen.map(chosenColumn),
  ];
}
