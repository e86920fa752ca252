import { ListPageSkeleton } from "@/app/_ui/skeletons";

export function Skeleton() {
  return (
    <ListPageSkeleton
      columns={["Tool", "Description", "Runs, 7 d", "Success", "p95", "Credits, 7 d", "Last run"]}
      title="Tools"
    />
  );
}
