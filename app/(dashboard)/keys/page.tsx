import type { Metadata } from "next";
import { ListPageSkeleton } from "@/app/_ui/page/skeletons";
import { prefetchedPage } from "../content-page";
import { KeysView } from "./keys-view";

export const metadata: Metadata = { title: "API keys" };

export default prefetchedPage(
  async ({ queryClient, trpc }) => {
    await queryClient.fetchQuery(trpc.catalog.keys.queryOptions());
    return <KeysView />;
  },
  <ListPageSkeleton
    columns={["Key", "State", "Permissions", "Last used", "Expires", "Created"]}
    title="API keys"
  />,
);
