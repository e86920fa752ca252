import type { Metadata } from "next";
import { PageHead } from "@/app/_ui/page/page";
import { prefetchedPage } from "../content-page";
import { SecretsSkeleton, SecretsView } from "./secrets-view";

export const metadata: Metadata = { title: "Secrets" };

export default prefetchedPage(
  async ({ queryClient, trpc }) => {
    await queryClient.fetchQuery(trpc.secrets.list.queryOptions());
    return <SecretsView />;
  },
  <>
    <PageHead title="Secrets" />
    <SecretsSkeleton />
  </>,
);
