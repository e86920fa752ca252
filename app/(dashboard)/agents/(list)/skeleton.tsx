import { ListPageSkeleton } from "@/app/_ui/page/skeletons";
import { WEEK_COLUMNS } from "../../_definitions/week";
import { WeekTotalSkeleton } from "../../_definitions/week-total";

export function Skeleton() {
  return (
    <ListPageSkeleton columns={["Agent", "Model", ...WEEK_COLUMNS, "Last run"]} title="Agents">
      <WeekTotalSkeleton />
      <div className="h-12" />
    </ListPageSkeleton>
  );
}
