import { ListPageSkeleton } from "@/app/_ui/page/skeletons";
import { WEEK_COLUMNS } from "../../_definitions/week";

export function Skeleton() {
  return <ListPageSkeleton columns={["Tool", "Description", ...WEEK_COLUMNS, "Last run"]} title="Tools" />;
}
