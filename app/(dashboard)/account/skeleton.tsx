import { PageHead } from "@/app/_ui/page/page";
import { FactsSkeleton } from "@/app/_ui/page/skeletons";

export function Skeleton() {
  return (
    <>
      <PageHead title="Account" />
      <FactsSkeleton label="You" names={["Name", "Email", "Theme", "Time zone"]} />
    </>
  );
}
