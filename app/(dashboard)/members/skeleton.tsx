import { ListPageSkeleton } from "../../_ui/skeletons";

export function Skeleton() {
  return <ListPageSkeleton columns={["Member", "Role", "Permissions", "Joined"]} title="Members" />;
}
