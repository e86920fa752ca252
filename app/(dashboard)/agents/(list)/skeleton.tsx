import { ListPageSkeleton } from "@/app/_ui/skeletons";

export function Skeleton() {
  return (
    <ListPageSkeleton
      columns={["Agent", "Model", "Runs, 7 d", "Success", "p95", "Credits, 7 d", "Last run"]}
      title="Agents"
    />
  );
}
