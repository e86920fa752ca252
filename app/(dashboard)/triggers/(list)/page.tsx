import type { Metadata } from "next";
import { Suspense } from "react";
import { createPrefetch, Prefetched } from "@/app/_ui/page/prefetch";
import { readSort } from "../../_definitions/week";
import { Skeleton } from "./skeleton";
import { TriggersView } from "./triggers-view";

export const metadata: Metadata = { title: "Triggers" };

async function Triggers({ searchParams }: PageProps<"/triggers">) {
  const sort = readSort((await searchParams).sort);
  const prefetch = await createPrefetch();
  await prefetch.queryClient.fetchQuery(prefetch.trpc.catalog.triggers.queryOptions());
  return (
    <Prefetched from={prefetch}>
      <TriggersView sort={sort} />
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
