import type { Metadata } from "next";
import { createPrefetch, Prefetched } from "@/app/_ui/page/prefetch";
import { readListView } from "../../_definitions/week";
import { WeekListSkeleton } from "../../_definitions/week-total";
import { suspended } from "../../content-page";
import { TriggersView } from "./triggers-view";

export const metadata: Metadata = { title: "Triggers" };

async function Triggers({ searchParams }: PageProps<"/triggers">) {
  const view = readListView(await searchParams);
  const prefetch = await createPrefetch();
  await prefetch.queryClient.fetchQuery(prefetch.trpc.catalog.triggers.queryOptions());
  return (
    <Prefetched from={prefetch}>
      <TriggersView view={view} />
    </Prefetched>
  );
}

export default suspended(
  Triggers,
  <WeekListSkeleton first={["Trigger", "Starts"]} last="Last call" title="Triggers" />,
);
