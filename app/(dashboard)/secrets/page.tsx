import type { Metadata } from "next";
import { createPrefetch, Prefetched } from "@/app/_ui/page/prefetch";
import { ListPageSkeleton } from "@/app/_ui/page/skeletons";
import { suspended } from "../content-page";
import { SecretsView } from "./secrets-view";

export const metadata: Metadata = { title: "Secrets" };

async function Secrets() {
  const prefetch = await createPrefetch();
  await prefetch.queryClient.fetchQuery(prefetch.trpc.secrets.list.queryOptions());
  return (
    <Prefetched from={prefetch}>
      <SecretsView />
    </Prefetched>
  );
}

export default suspended(
  Secrets,
  <ListPageSkeleton
    columns={["Secret", "State", "Allowed hosts", "Last used", "Expires", "Created"]}
    title="Secrets"
  />,
);
