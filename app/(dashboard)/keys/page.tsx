import type { Metadata } from "next";
import { PageHead } from "@/app/_ui/page/page";
import { prefetchedPage } from "../content-page";
import { KeysSkeleton, KeysView } from "./keys-view";

export const metadata: Metadata = { title: "API keys" };

export default prefetchedPage(
  async ({ queryClient, trpc }) => {
    await queryClient.fetchQuery(trpc.catalog.keys.queryOptions());
    return <KeysView />;
  },
  <>
    <PageHead title="API keys" />
    <KeysSkeleton />
  </>,
);
