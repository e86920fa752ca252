import { useQuery } from "@tanstack/react-query";
import { useTRPC } from "@/app/_ui/data/providers";
import { formatCount, formatPlural } from "@/app/_ui/figures/format";
import { Ago } from "@/app/_ui/figures/time";
import { Link } from "@/app/_ui/link";
import { type LineColumn, LineList } from "@/app/_ui/table";
import type { ErrorGroup } from "@/server/runs/read/find/error-groups";
import type { RunFilter } from "@/server/runs/read/find/filter";

const MAX_SHOWN = 10;

const COLUMNS: LineColumn<ErrorGroup>[] = [
  {
    head: "Error",
    area: "line",
    cell: ({ headline, newestRunId }) => (
      <Link
        className="block truncate font-medium after:absolute after:inset-0"
        href={`/runs/${newestRunId}`}
        title={`${headline}\nOpens the newest of these runs`}
      >
        {headline}
      </Link>
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
    head: "Affected",
    width: "w-56",
    area: "wide",
    look: "cut",
    cell: ({ names, targets }) => (
      <>
        {names.join(", ")}
        {targets > names.length ? `, +${targets - names.length}` : null}
      </>
    ),
  },
  {
    head: "First",
    width: "w-28",
    area: "wide",
    look: "figure",
    cell: ({ firstAt }) => <Ago at={firstAt} className="text-muted" />,
  },
  {
    head: "Last",
    width: "w-28",
    area: "last",
    look: "figure",
    cell: ({ lastAt }) => <Ago at={lastAt} className="text-muted" />,
  },
];

/** The failed runs of a filter by equal errors: how many there are, and when the first and the last one were. */
export function EqualErrors({ filter }: { filter: RunFilter }) {
  const { data } = useQuery(useTRPC().runs.errors.queryOptions({ filter }));
  if (!data || data.groups.length === 0) return null;
  return (
    <section aria-label="Equal errors" className="pb-6">
      <LineList
        columns={COLUMNS}
        keyOf={({ newestRunId }) => newestRunId}
        label="Equal errors"
        lines={data.groups.slice(0, MAX_SHOWN)}
      />
      <p className="px-4 pt-2 text-muted text-xs sm:px-6">
        {formatPlural(data.groups.length, "error")} in the newest {formatPlural(data.runs, "failed run")}
      </p>
    </section>
  );
}
