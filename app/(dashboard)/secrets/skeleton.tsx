import { ListPageSkeleton } from "@/app/_ui/page/skeletons";

export function Skeleton() {
  return (
    <ListPageSkeleton
      columns={["Secret", "State", "Allowed hosts", "Last used", "Expires", "Created"]}
      title="Secrets"
    />
  );
}
