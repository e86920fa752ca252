import { ListPageSkeleton } from "@/app/_ui/skeletons";

export function Skeleton() {
  return (
    <ListPageSkeleton
      columns={["Agent", "Model", "Functions and tools", "Steps", "Last run"]}
      title="Agents"
    />
  );
}
