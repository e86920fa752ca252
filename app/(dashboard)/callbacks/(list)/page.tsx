import type { Metadata } from "next";
import { PageHead } from "@/app/_ui/page/page";
import { prefetchedPage } from "../../content-page";
import { deliveriesQuery } from "../query";
import { CallbacksSkeleton, CallbacksView } from "./callbacks-view";

export const metadata: Metadata = { title: "Callbacks" };

export default prefetchedPage(
  async ({ queryClient, trpc }) => {
    await Promise.all([
      queryClient.fetchQuery(trpc.callbacks.list.queryOptions()),
      queryClient.prefetchInfiniteQuery(deliveriesQuery(trpc, { state: "undelivered" })),
    ]);
    return <CallbacksView />;
  },
  <>
    <PageHead title="Callbacks" />
    <CallbacksSkeleton />
  </>,
);
