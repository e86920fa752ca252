import type { Metadata } from "next";
import { PageHead } from "@/app/_ui/page/page";
import { FactsSkeleton } from "@/app/_ui/page/skeletons";
import { prefetchedPage } from "../content-page";
import { OrganizationView } from "./organization-view";

export const metadata: Metadata = { title: "Settings" };

export default prefetchedPage(
  async ({ queryClient, trpc }) => {
    await Promise.all([
      queryClient.fetchQuery(trpc.organization.inspect.queryOptions()),
      queryClient.fetchQuery(trpc.credits.balance.queryOptions()),
    ]);
    return <OrganizationView />;
  },
  <>
    <PageHead title="Settings" />
    <FactsSkeleton label="Organization" names={["Name", "Slug", "Id", "Created", "State"]} />
  </>,
);
