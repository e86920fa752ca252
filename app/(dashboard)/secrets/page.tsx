import type { Metadata } from "next";
import { ListPageSkeleton } from "@/app/_ui/page/skeletons";
import { prefetchedPage } from "../content-page";
import { SecretsView } from "./secrets-view";

export const metadata: Metadata = { title: "Secrets" };

export default prefetchedPage(
  async ({ queryClient, trpc }) => {
    await queryClient.fetchQuery(trpc.secrets.list.queryOptions());
    return <SecretsView />;
  },
  <ListPageSkeleton
    columns={["Secret", "State", "Allowed hosts", "Last used", "Expires", "Created"]}
    title="Secrets"
  />,
);
