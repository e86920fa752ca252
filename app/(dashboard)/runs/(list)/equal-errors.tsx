import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useNow, useTimeZone } from "@/app/_ui/data/clock";
import { useTRPC } from "@/app/_ui/data/providers";
import { formatCount, formatCredits, formatDate, formatMinute, formatPlural } from "@/app/_ui/figures/format";
import { Ago } from "@/app/_ui/figures/time";
import { Link } from "@/app/_ui/link";
import { SkeletonLine } from "@/app/_ui/page/page";
import { type LineColumn, LineList } from "@/app/_ui/table";
import { Unreadable } from "@/app/_ui/text/unreadable";
import type { ErrorGroup, ErrorGroups } from "@/server/runs/read/find/error-groups";
import type { RunFilter } from "@/server/runs/read/find/filter";

const MAX_SHOWN = 10;

const columnsOf = ({ from, to, readSince }: ErrorGroups, timeZone: string): LineColumn<ErrorGroup>[] => [
  {
    head: "Error",
    area: "line",
    cell: ({ headline }) => (
      <span className="line-clamp-2 min-w-0 font-medium [overflow-wrap:anywhere]" title={headline}>
        {headline}
      </span>
    ),
  },
  {
    head: "Runs",
    width: "w-20",
    area: "share",
    look: "figure",
    cell: ({ runs }) => (
      <>
        {formatCount(runs)}
        <span className="md:hidden">{runs === 1 ? " run" : " runs"}</span>
      </>
    ),
  },
  {
    head: describeSpan(from, to, timeZone),
    width: "w-44",
    area: "wider",
    cell: ({ bars }) => <Bars bars={bars} />,
  },
  {
    head: "Affected",
    width: "w-40",
    area: "wide",
    look: "cut",
    cell: ({ affected: [first], targets }) => (
      <>
        {first?.name}
        {targets > 1 ? ` +${targets - 1}` : null}
      </>
    ),
  },
  {
    head: "First seen",
    width: "w-44",
    area: "wide",
    look: "figure",
    cell: ({ firstAt }) => (
      <>
        <NewToday at={firstAt} readSince={readSince} />
        <Ago at={firstAt} className="text-muted" />
      </>
    ),
  },
  {
    head: "Last seen",
    width: "w-28",
    area: "last",
    look: "figure",
    cell: ({ lastAt }) => <Ago at={lastAt} className="text-muted" />,
  },
];

function describeSpan(from: string, to: string, timeZone: string): string {
  const [first, last] = [new Date(from), new Date(to)];
  const isOneDay = formatDate(first, timeZone) === formatDate(last, timeZone);
  const end = formatMinute(last, timeZone);
  return `${formatMinute(first, timeZone)} to ${isOneDay ? end.slice(-5) : end}`;
}

const HEIGHT = 24;

function Bars({ bars }: { bars: readonly number[] }) {
  const most = Math.max(...bars);
  const width = 100 / bars.length;
  return (
    <svg
      aria-hidden="true"
      className="block w-26 text-failed"
      height={HEIGHT}
      preserveAspectRatio="none"
      viewBox={`0 0 100 ${HEIGHT}`}
    >
      <path className="stroke-line-strong" d={`M0 ${HEIGHT - 0.5}h100`} strokeDasharray="2 2" />
      {bars.map((runs, at) => {
        const height = runs === 0 ? 0 : Math.max(2, (runs / most) * HEIGHT);
        return (
          <rect
            fill="currentColor"
            height={height}
            // biome-ignore lint/suspicious/noArrayIndexKey: a bar has no identity but its position.
            key={`${at} of ${bars.length}`}
            width={width * 0.8}
            x={at * width}
            y={HEIGHT - height}
          />
        );
      })}
    </svg>
  );
}

function NewToday({ at, readSince }: { at: string; readSince: string | null }) {
  const timeZone = useTimeZone();
  const now = useNow();
  const dayOf = (time: number) => formatDate(new Date(time), timeZone);
  const readsYesterday = readSince === null || dayOf(Date.parse(readSince)) !== dayOf(now);
  if (!readsYesterday || dayOf(Date.parse(at)) !== dayOf(now)) return null;
  return (
    <span className="mr-2 rounded border border-failed/40 bg-failed-wash px-1.5 text-failed text-xs">
      New today
    </span>
  );
}

function Details({ group: { message, affected, targets, newest, credits, runs } }: { group: ErrorGroup }) {
  const headClass = "pb-1.5 font-medium text-muted text-xs";
  return (
    <div className="grid gap-x-8 gap-y-4 bg-surface px-4 py-4 sm:px-6 lg:grid-cols-[minmax(0,2fr)_minmax(0,1fr)_minmax(0,1fr)]">
      <section>
        <h3 className={headClass}>{runs === 1 ? "The error" : "The newest error"}</h3>
        <p className="mono whitespace-pre-wrap text-xs [overflow-wrap:anywhere]">{message}</p>
      </section>
      <section>
        <h3 className={headClass}>Affected</h3>
        <ul className="flex flex-col gap-1">
          {affected.map(({ name, runs: count }) => (
            <li className="flex justify-between gap-3" key={name}>
              <span className="truncate" title={name}>
                {name}
              </span>
              <span className="tabular-nums">{formatCount(count)}</span>
            </li>
          ))}
        </ul>
        {targets > affected.length ? (
          <p className="pt-1 text-muted">and {formatCount(targets - affected.length)} more</p>
        ) : null}
        <p className="pt-2 text-muted text-xs">{formatCredits(credits)} credits, without child runs</p>
      </section>
      <section>
        <h3 className={headClass}>Newest runs</h3>
        <ul className="flex flex-col gap-1">
          {newest.map(({ id, name, at }) => (
            <li className="flex justify-between gap-3" key={id}>
              <Link className="truncate text-accent hover:underline" href={`/runs/${id}`}>
                {name}
              </Link>
              <Ago at={at} className="shrink-0 text-muted" />
            </li>
          ))}
        </ul>
      </section>
    </div>
  );
}

/** The failed runs of a filter by equal errors: how many there are, and when the first and the last one were. */
export function EqualErrors({ filter }: { filter: RunFilter }) {
  const timeZone = useTimeZone();
  const query = useQuery({
    ...useTRPC().runs.errors.queryOptions({ filter }),
    placeholderData: keepPreviousData,
  });
  const { data } = query;
  if (!data) {
    if (query.isError) return <Unreadable query={query} what="Could not load equal errors" />;
    return (
      <div aria-busy="true" className="px-4 pb-6 sm:px-6">
        <SkeletonLine className="w-2/3" />
      </div>
    );
  }
  if (data.groups.length === 0) return null;
  return (
    <section aria-label="Equal errors" className="pb-6">
      <LineList
        columns={columnsOf(data, timeZone)}
        detailsOf={(group) => <Details group={group} />}
        keyOf={({ headline }) => headline}
        isStale={query.isPlaceholderData}
        label="Equal errors"
        lines={data.groups.slice(0, MAX_SHOWN)}
      />
      <p className="px-4 pt-2 text-muted text-xs sm:px-6">
        {formatPlural(data.groups.length, "error")} in the newest {formatPlural(data.runs, "failed run")}
      </p>
    </section>
  );
}
