import { ListPageSkeleton } from "@/app/_ui/page/skeletons";

export function Skeleton() {
  return <ListPageSkeleton columns={["Member", "Role", "Permissions", "Joined"]} title="Members" />;
}
