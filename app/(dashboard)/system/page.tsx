import type { Metadata } from "next";
import { notFound } from "next/navigation";
import { PageHead } from "@/app/_ui/page/page";
import { FiguresSkeleton, LinesSkeleton } from "@/app/_ui/page/skeletons";
import { readIsOperator } from "@/app/request";
import { createPrefetch, detailPage, Prefetched } from "../content-page";
import { KEY_FIGURES } from "./describe";
import { SystemView } from "./system-view";

export const metadata: Metadata = { title: "System" };

/** For others there is no such page. */
export default detailPage(
  async () => {
    if (!(await readIsOperator())) notFound();
    const prefetch = await createPrefetch();
    const { queryClient, trpc } = prefetch;
    await Promise.all([
      queryClient.fetchQuery(trpc.system.status.queryOptions()),
      queryClient.prefetchQuery(trpc.system.database.queryOptions()),
      queryClient.prefetchQuery(trpc.system.signIns.queryOptions()),
    ]);
    return (
      <Prefetched from={prefetch}>
        <SystemView />
      </Prefetched>
    );
  },
  <>
    <PageHead title="System" />
    <FiguresSkeleton label="At a glance" names={KEY_FIGURES} />
    <LinesSkeleton />
  </>,
);
