import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useTRPC } from "@/app/_ui/data/providers";
import { lazy } from "@/app/_ui/lazy";
import { countedFilter } from "@/server/runs/read/counted-filter";
import type { RunFilter } from "@/server/runs/read/find/filter";
import { type FilterChange, without } from "../filter/filter-choices";

const HistogramBars = lazy(() => import("./histogram-bars"), "HistogramBars");

const REFRESH_MS = 60_000;

type Props = { filter: RunFilter; onChange: (change: FilterChange) => void };

/**
 * Runs over time, whatever their status. Nothing if the stored counts cannot answer the filter, or have no run. The
 * space is reserved while they load, so that the list below does not move.
 */
export function Histogram({ filter, onChange }: Props) {
  const trpc = useTRPC();
  const isCounted = countedFilter(filter) !== null;
  const { data, isPending } = useQuery({
    ...trpc.runs.histogram.queryOptions({ filter: without(filter, "status") }),
    enabled: isCounted,
    placeholderData: keepPreviousData,
    refetchInterval: REFRESH_MS,
  });
  if (!isCounted || (!isPending && !data?.bars.some(({ runs }) => runs > 0))) return null;
  return (
    <div className="h-25">
      {data ? <HistogramBars data={data} filter={filter} onChange={onChange} /> : null}
    </div>
  );
}
