import type { Metadata } from "next";
import { PageHead } from "@/app/_ui/page/page";
import { createPrefetch, Prefetched } from "@/app/_ui/page/prefetch";
import { FactsSkeleton } from "@/app/_ui/page/skeletons";
import { suspended } from "../content-page";
import { OrganizationView } from "./organization-view";

export const metadata: Metadata = { title: "Settings" };

async function Organization() {
  const prefetch = await createPrefetch();
  await Promise.all([
    prefetch.queryClient.fetchQuery(prefetch.trpc.organization.inspect.queryOptions()),
    prefetch.queryClient.fetchQuery(prefetch.trpc.credits.balance.queryOptions()),
  ]);
  return (
    <Prefetched from={prefetch}>
      <OrganizationView />
    </Prefetched>
  );
}

export default suspended(
  Organization,
  <>
    <PageHead title="Settings" />
    <FactsSkeleton label="Organization" names={["Name", "Slug", "Id", "Created", "State"]} />
  </>,
);
