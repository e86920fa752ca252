import { ListPageBones } from "@/app/_ui/bones";

export function Skeleton() {
  return <ListPageBones columns={["Tool", "Description", "Steps", "Last run"]} title="Tools" />;
}
