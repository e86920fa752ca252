import { PageHead } from "@/app/_ui/page";
import { LinesSkeleton } from "../../_ui/skeletons";

export function Skeleton() {
  return (
    <>
      <PageHead title="Audit log" />
      <LinesSkeleton />
    </>
  );
}
