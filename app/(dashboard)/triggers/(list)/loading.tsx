import { ListPageBones } from "@/app/_ui/bones";

export default function Loading() {
  return <ListPageBones columns={["Trigger", "Starts", "Signature", "Limit", "Last run"]} title="Triggers" />;
}
