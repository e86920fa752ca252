import type { Metadata } from "next";
import { createPrefetch, Prefetched } from "@/app/_ui/page/prefetch";
import { ListPageSkeleton } from "@/app/_ui/page/skeletons";
import { suspended } from "../content-page";
import { KeysView } from "./keys-view";

export const metadata: Metadata = { title: "API keys" };

async function Keys() {
  const prefetch = await createPrefetch();
  await prefetch.queryClient.fetchQuery(prefetch.trpc.catalog.keys.queryOptions());
  return (
    <Prefetched from={prefetch}>
      <KeysView />
    </Prefetched>
  );
}

export default suspended(
  Keys,
  <ListPageSkeleton
    columns={["Key", "State", "Permissions", "Last used", "Expires", "Created"]}
    title="API keys"
  />,
);
