import { ListPageSkeleton } from "@/app/_ui/page/skeletons";
import { WEEK_COLUMNS } from "../../_definitions/week";

export function Skeleton() {
  return <ListPageSkeleton columns={["Trigger", "Starts", ...WEEK_COLUMNS, "Last call"]} title="Triggers" />;
}
