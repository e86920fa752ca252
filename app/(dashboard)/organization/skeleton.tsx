import { PageHead } from "@/app/_ui/page";
import { FactsSkeleton } from "@/app/_ui/skeletons";

export function Skeleton() {
  return (
    <>
      <PageHead title="Settings" />
      <FactsSkeleton label="Organization" names={["Name", "Slug", "Id", "Created", "State"]} />
    </>
  );
}
