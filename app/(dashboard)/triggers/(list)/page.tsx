import type { Metadata } from "next";
import { Suspense } from "react";
import { createPrefetch, Prefetched } from "@/app/_ui/page/prefetch";
import { readListView } from "../../_definitions/week";
import { Skeleton } from "./skeleton";
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

export default function TriggersPage(props: PageProps<"/triggers">) {
  return (
    <Suspense fallback={<Skeleton />}>
      <Triggers {...props} />
    </Suspense>
  );
}
