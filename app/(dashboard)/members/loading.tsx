import { ListPageBones } from "@/app/_ui/bones";

export default function Loading() {
  return <ListPageBones columns={["Member", "Role", "Permissions", "Joined"]} title="Members" />;
}
