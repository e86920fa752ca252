import { ListPageBones } from "@/app/_ui/bones";

export function Skeleton() {
  return (
    <ListPageBones columns={["Agent", "Model", "Functions and tools", "Steps", "Last run"]} title="Agents" />
  );
}
