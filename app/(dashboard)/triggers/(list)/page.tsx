import type { Metadata } from "next";
import { readListView } from "../../_definitions/list/columns";
import { WeekListSkeleton } from "../../_definitions/list/week-total";
import { prefetchedPage } from "../../content-page";
import { TriggersView } from "./triggers-view";

export const metadata: Metadata = { title: "Triggers" };

export default prefetchedPage(
  async ({ queryClient, trpc }, { searchParams }: PageProps<"/triggers">) => {
    const view = readListView(await searchParams);
    await queryClient.fetchQuery(trpc.catalog.triggers.queryOptions());
    return <TriggersView view={view} />;
  },
  <WeekListSkeleton first={["Trigger", "Starts"]} last="Last call" title="Triggers" />,
);
