import { ListPageBones } from "@/app/_ui/bones";

export default function Loading() {
  return <ListPageBones columns={["Tool", "Description", "Steps", "Last run"]} title="Tools" />;
}
