import { ListPageBones } from "@/app/_ui/bones";

export function Skeleton() {
  return (
    <ListPageBones
      columns={["Key", "State", "Permissions", "Last used", "Expires", "Created"]}
      title="API keys"
    />
  );
}
