import { ListPageSkeleton } from "@/app/_ui/page/skeletons";
import { WEEK_COLUMNS } from "../../_definitions/week";

export function Skeleton() {
  return <ListPageSkeleton columns={["Agent", "Model", ...WEEK_COLUMNS, "Last run"]} title="Agents" />;
}
