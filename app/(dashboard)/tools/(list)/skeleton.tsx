import { ListPageSkeleton } from "@/app/_ui/page/skeletons";
import { WEEK_COLUMNS } from "../../_definitions/week";
import { WeekTotalSkeleton } from "../../_definitions/week-total";

export function Skeleton() {
  return (
    <ListPageSkeleton columns={["Tool", "Description", ...WEEK_COLUMNS, "Last run"]} title="Tools">
      <WeekTotalSkeleton />
      <div className="h-12" />
    </ListPageSkeleton>
  );
}
