import type { ReactNode } from "react";
import { formatCount, formatCredits, formatDuration, formatShare, NONE } from "@/app/_ui/figures/format";
import { StatusShape } from "@/app/_ui/figures/status";
import { type Column, ListCell } from "@/app/_ui/table";
import type { RunFigures } from "@/server/runs/read/metrics/figures";
import type { WeekFigures } from "@/server/runs/read/metrics/metrics";

/** The columns of a list with the figures of the last seven days, and the orders they offer. */

const SORTS = {
  runs: (week: WeekFigures) => week.runs,
  success: (week: WeekFigures) => shareOf(week),
  p95: (week: WeekFigures) => week.p95 ?? -1,
  credits: (week: WeekFigures) => Number(week.credits),
};
export type WeekSort = keyof typeof SORTS;

/** The order in the URL, `?sort=runs`; null for the order by name. */
function readSort(text: string | string[] | undefined): WeekSort | null {
  return text === "runs" || text === "success" || text === "p95" || text === "credits" ? text : null;
}

/** The lines in this order, the highest first and those without runs last. */
function sortByWeek<Line extends { week: WeekFigures | null }>(
  lines: readonly Line[],
  sort: WeekSort | null,
): Line[] {
  if (sort === null) return [...lines];
  const rank = ({ week }: Line) => (week ? SORTS[sort](week) : -2);
  return lines.toSorted((a, b) => rank(b) - rank(a));
}

/** What the URL of a list says: its order, and the words that narrow it. */
export type ListView = { sort: WeekSort | null; search: string };

export function readListView(params: Record<string, string | string[] | undefined>): ListView {
  const { sort, q } = params;
  return { sort: readSort(sort), search: typeof q === "string" ? q : "" };
}

export function listHref(path: string, { sort, search }: ListView): string {
  const params = new URLSearchParams();
  if (sort !== null) params.set("sort", sort);
  if (search !== "") params.set("q", search);
  return params.size === 0 ? path : `${path}?${params}`;
}

/** The lines whose name or slug contains each of the words, in the view's order. */
export function viewLines<Line extends { name: string; slug: string; week: WeekFigures | null }>(
  lines: readonly Line[],
  { sort, search }: ListView,
): Line[] {
  const words = search.toLowerCase().split(/\s+/).filter(Boolean);
  const found = lines.filter(({ name, slug }) => {
    const text = `${name} ${slug}`.toLowerCase();
    return words.every((word) => text.includes(word));
  });
  return sortByWeek(found, sort);
}

/** The names of `weekColumns`, for skeletons. */
export const WEEK_COLUMNS = ["Runs, 7 d", "Success", "p95", "Credits, 7 d"];

/**
 * On a narrow screen the first column has the runs and the success rate, and there are no others.
 * @param path the page's path
 */
export function weekColumns(path: string, { sort, search }: ListView): Column[] {
  const link = (by: WeekSort) => ({
    href: listHref(path, { sort: sort === by ? null : by, search }),
    sorted: sort === by,
  });
  return [
    ["Runs, 7 d", "w-58 text-right lg:w-44", link("runs")],
    ["Success", "w-22 text-right max-lg:hidden", link("success")],
    ["p95", "w-24 text-right max-lg:hidden", link("p95")],
    ["Credits, 7 d", "w-28 text-right max-lg:hidden", link("credits")],
  ];
}

export function WeekCells({ week }: { week: WeekFigures | null }) {
  return (
    <>
      <ListCell className="text-right" area="last">
        <span className="inline-flex items-center gap-3 max-lg:flex-row-reverse">
          <OrNone>
            {week && (
              <span className="whitespace-nowrap max-md:min-w-32">
                {formatCount(week.runs)}
                <span className="lg:hidden">
                  {week.runs === 1 ? " run" : " runs"}
                  {ended(week) > 0 ? (
                    <>
                      , <SuccessRate of={week} />
                    </>
                  ) : null}
                </span>
              </span>
            )}
          </OrNone>
          <DayBars week={week} />
        </span>
      </ListCell>
      <ListCell className="text-right" area="wide">
        <OrNone>{week && ended(week) > 0 ? <SuccessRate of={week} /> : null}</OrNone>
      </ListCell>
      <ListCell className="whitespace-nowrap text-right" area="wide">
        <OrNone>{week?.p95 == null ? null : formatDuration(week.p95)}</OrNone>
      </ListCell>
      <ListCell className="text-right" area="wide">
        <OrNone>{week && Number(week.credits) > 0 ? formatCredits(week.credits, 2) : null}</OrNone>
      </ListCell>
    </>
  );
}

function OrNone({ children }: { children: ReactNode }) {
  return children ?? <span className="text-faint">{NONE}</span>;
}

/** A lower share is marked, by a shape as well. */
const LOW_SUCCESS = 0.9;

/** The share of completed among ended runs. */
export function SuccessRate({ of }: { of: RunFigures }) {
  const share = formatShare(of.completed, ended(of));
  if (ended(of) === 0 || of.completed / ended(of) >= LOW_SUCCESS) return share;
  return (
    <span className="inline-flex items-baseline gap-1.5 text-failed" title="Below 90%">
      <StatusShape className="translate-y-px" status="Failed" />
      {share}
    </span>
  );
}

/** Cancelled runs count neither as a success nor as a failure. */
export function ended({ completed, failed }: Pick<RunFigures, "completed" | "failed">): number {
  return completed + failed;
}

function shareOf(week: WeekFigures): number {
  return ended(week) === 0 ? -1 : week.completed / ended(week);
}

/** What an ended run cost on average; null without one. */
export function creditsPerRun({ runs, open, credits }: RunFigures): number | null {
  return runs === open ? null : Number(credits) / (runs - open);
}

export function formatPerRun(figures: RunFigures): string {
  const credits = creditsPerRun(figures);
  return credits ? formatCredits(credits.toFixed(4), credits < 1 ? 4 : 2) : NONE;
}

const BAR = 9;
const GAP = 2;
const HEIGHT = 20;
const NO_DAYS = Array.from({ length: 7 }, () => ({ runs: 0, failed: 0 }));

/** The runs of each day as bars from zero, failures at the foot. */
function DayBars({ week }: { week: WeekFigures | null }) {
  const days = week?.days ?? NO_DAYS;
  const top = Math.max(1, ...days.map(({ runs }) => runs));
  return (
    <svg aria-hidden="true" height={HEIGHT} width={days.length * (BAR + GAP)}>
      {days.map(({ runs, failed }, index) => {
        const [all, red] = [barHeight(runs / top), barHeight(failed / top)];
        const x = index * (BAR + GAP);
        return (
          // biome-ignore lint/suspicious/noArrayIndexKey: the first day, the second, …
          <g key={index}>
            {runs === 0 ? (
              <rect className="fill-line-strong" height="1" width={BAR} x={x} y={HEIGHT - 1} />
            ) : null}
            <rect className="fill-data-2" height={all} rx="1" width={BAR} x={x} y={HEIGHT - all} />
            <rect className="fill-failed-fill" height={red} rx="1" width={BAR} x={x} y={HEIGHT - red} />
          </g>
        );
      })}
    </svg>
  );
}

/** At least 2 px, so that few runs beside many can be seen. */
function barHeight(share: number): number {
  return share === 0 ? 0 : Math.max(2, Math.round(share * HEIGHT));
}
