import { ListPageBones } from "@/app/_ui/bones";

export default function Loading() {
  return (
    <ListPageBones columns={["Key", "State", "May", "Last used", "Expires", "Created"]} title="API keys" />
  );
}
