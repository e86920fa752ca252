import { PageHead } from "@/app/_ui/page/page";
import { LinesSkeleton } from "@/app/_ui/page/skeletons";

export function Skeleton() {
  return (
    <>
      <PageHead title="Audit log" />
      <LinesSkeleton />
    </>
  );
}
