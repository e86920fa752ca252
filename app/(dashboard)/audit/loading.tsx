import { LineBones } from "@/app/_ui/bones";
import { PageHead } from "@/app/_ui/page";

export default function Loading() {
  return (
    <>
      <PageHead title="Audit log" />
      <LineBones />
    </>
  );
}
