import { LineBones } from "@/app/_ui/bones";
import { PageHead } from "@/app/_ui/page";

export function Skeleton() {
  return (
    <>
      <PageHead title="Audit log" />
      <LineBones />
    </>
  );
}
