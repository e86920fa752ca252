import { ListPageBones } from "@/app/_ui/bones";

export function Skeleton() {
  return <ListPageBones columns={["Trigger", "Starts", "Signature", "Limit", "Last run"]} title="Triggers" />;
}
