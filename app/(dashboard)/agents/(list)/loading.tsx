import { ListPageBones } from "@/app/_ui/bones";

export default function Loading() {
  return (
    <ListPageBones columns={["Agent", "Model", "Functions and tools", "Steps", "Last run"]} title="Agents" />
  );
}
