import { ListPageBones } from "@/app/_ui/bones";

export default function Loading() {
  return <ListPageBones columns={["Member", "Role", "May", "Joined"]} title="Members" />;
}
