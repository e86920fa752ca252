import { ListPageSkeleton } from "@/app/_ui/skeletons";

export function Skeleton() {
  return <ListPageSkeleton columns={["Tool", "Description", "Steps", "Last run"]} title="Tools" />;
}
