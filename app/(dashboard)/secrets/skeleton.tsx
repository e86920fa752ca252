import { ListPageSkeleton } from "../../_ui/skeletons";

export function Skeleton() {
  return (
    <ListPageSkeleton
      columns={["Secret", "State", "Allowed hosts", "Last used", "Expires", "Created"]}
      title="Secrets"
    />
  );
}
