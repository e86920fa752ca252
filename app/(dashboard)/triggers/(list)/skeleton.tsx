import { ListPageSkeleton } from "@/app/_ui/skeletons";

export function Skeleton() {
  return (
    <ListPageSkeleton columns={["Trigger", "Starts", "Signature", "Limit", "Last run"]} title="Triggers" />
  );
}
