import { ListPageBones } from "@/app/_ui/bones";

export default function Loading() {
  return (
    <ListPageBones
      columns={["Key", "State", "Permissions", "Last used", "Expires", "Created"]}
      title="API keys"
    />
  );
}
