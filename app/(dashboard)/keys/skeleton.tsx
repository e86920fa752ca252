import { ListPageSkeleton } from "@/app/_ui/page/skeletons";

export function Skeleton() {
  return (
    <ListPageSkeleton
      columns={["Key", "State", "Permissions", "Last used", "Expires", "Created"]}
      title="API keys"
    />
  );
}
