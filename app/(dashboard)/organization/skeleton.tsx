import { PageHead } from "@/app/_ui/page/page";
import { FactsSkeleton } from "@/app/_ui/page/skeletons";

export function Skeleton() {
  return (
    <>
      <PageHead title="Settings" />
      <FactsSkeleton label="Organization" names={["Name", "Slug", "Id", "Created", "State"]} />
    </>
  );
}
