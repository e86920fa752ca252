import type { ReactNode } from "react";
import { formatCount, formatCredits, formatDuration, NONE } from "@/app/_ui/figures/format";
import type { LineColumn } from "@/app/_ui/table";
import { ended, SuccessRate } from "@/app/(dashboard)/runs/rates";
import type { WeekFigures } from "@/server/runs/read/metrics/metrics";

const RANKS = {
  runs: (week: WeekFigures) => week.runs,
  success: (week: WeekFigures) => (ended(week) === 0 ? -1 : week.completed / ended(week)),
  p95: ({ p95 }: WeekFigures) => p95 ?? -1,
  credits: ({ creditsWithChildren }: WeekFigures) => Number(creditsWithChildren),
};
export type WeekSort = keyof typeof RANKS;

type Line = { week: WeekFigures | null };

const COLUMNS: readonly (LineColumn<Line> & { by: WeekSort })[] = [
  {
    by: "runs",
    head: "Runs, 7 d",
    width: "w-58 lg:w-44",
    area: "last",
    look: "figure",
    cell: ({ week }) => (
      <span className="inline-flex items-center gap-3 max-lg:flex-row-reverse">
        <OrNone>{week && <RunsAndSuccess week={week} />}</OrNone>
        <DayBars week={week} />
      </span>
    ),
  },
  {
    by: "success",
    head: "Success",
    width: "w-22",
    area: "wide",
    look: "figure",
    cell: ({ week }) => <OrNone>{week && ended(week) > 0 ? <SuccessRate of={week} /> : null}</OrNone>,
  },
  {
    by: "p95",
    head: "p95",
    width: "w-24",
    area: "wide",
    look: "figure",
    cell: ({ week }) => <OrNone>{week?.p95 == null ? null : formatDuration(week.p95)}</OrNone>,
  },
  {
    by: "credits",
    head: "Credits, 7 d",
    title: "With those of child runs.",
    width: "w-28",
    area: "wide",
    look: "figure",
    cell: ({ week }) => (
      <OrNone>{week && Number(week.creditsWithChildren) > 0 ? <Cost of={week} /> : null}</OrNone>
    ),
  },
];

export const WEEK_HEADS = COLUMNS.map(({ head }) => head);

/** The columns with figures; each head leads to its order, or back to the order by name. */
export function weekColumns(path: string, { sort, search }: ListView): LineColumn<Line>[] {
  return COLUMNS.map(({ by, ...column }) => {
    const sorted = sort === by;
    return { ...column, sort: { href: listHref(path, { sort: sorted ? null : by, search }), sorted } };
  });
}

/** The order of a list and its search words, from the URL. */
export type ListView = { sort: WeekSort | null; search: string };

/** `?sort=runs&q=desk`; the order is null for the one by name. */
export function readListView({ sort, q }: Record<string, string | string[] | undefined>): ListView {
  return { sort: COLUMNS.find(({ by }) => by === sort)?.by ?? null, search: typeof q === "string" ? q : "" };
}

export function listHref(path: string, { sort, search }: ListView): string {
  const params = new URLSearchParams();
  if (sort !== null) params.set("sort", sort);
  if (search !== "") params.set("q", search);
  return params.size === 0 ? path : `${path}?${params}`;
}

/** The lines whose name or slug contains each of the words. With an order, those without runs are last. */
export function viewLines<Item extends Line & { name: string; slug: string }>(
  lines: readonly Item[],
  { sort, search }: ListView,
): Item[] {
  const words = search.toLowerCase().split(/\s+/).filter(Boolean);
  const found = lines.filter(({ name, slug }) => {
    const text = `${name} ${slug}`.toLowerCase();
    return words.every((word) => text.includes(word));
  });
  if (sort === null) return found;
  const rank = ({ week }: Item) => (week ? RANKS[sort](week) : -2);
  return found.sort((a, b) => rank(b) - rank(a));
}

function RunsAndSuccess({ week }: { week: WeekFigures }) {
  return (
    <span className="max-md:min-w-32">
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
  );
}

function Cost({ of: { credits, creditsWithChildren } }: { of: WeekFigures }) {
  return (
    <span className="-my-1 flex flex-col leading-4">
      {formatCredits(creditsWithChildren, 2)}
      {Number(credits) === Number(creditsWithChildren) ? null : (
        <span className="text-muted text-xs leading-4">{formatCredits(credits, 2)} own</span>
      )}
    </span>
  );
}

function OrNone({ children }: { children: ReactNode }) {
  return children ?? <span className="text-faint">{NONE}</span>;
}

const BAR = 9;
const GAP = 2;
const HEIGHT = 20;
const NO_DAYS = Array.from({ length: 7 }, () => ({ runs: 0, failed: 0 }));

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

/** At least 2 px, so that few runs beside many stay visible. */
function barHeight(share: number): number {
  return share === 0 ? 0 : Math.max(2, Math.round(share * HEIGHT));
}
