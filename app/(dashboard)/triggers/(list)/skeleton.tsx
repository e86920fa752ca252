import { ListPageSkeleton } from "@/app/_ui/page/skeletons";
import { WEEK_COLUMNS } from "../../_definitions/week";
import { WeekTotalSkeleton } from "../../_definitions/week-total";

export function Skeleton() {
  return (
    <ListPageSkeleton columns={["Trigger", "Starts", ...WEEK_COLUMNS, "Last call"]} title="Triggers">
      <WeekTotalSkeleton />
      <div className="h-12" />
    </ListPageSkeleton>
  );
}
