import { ListPageBones } from "@/app/_ui/bones";

export function Skeleton() {
  return <ListPageBones columns={["Member", "Role", "Permissions", "Joined"]} title="Members" />;
}
