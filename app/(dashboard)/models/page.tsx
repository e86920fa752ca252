import type { Metadata } from "next";
import { createPrefetch, Prefetched } from "@/app/_ui/page/prefetch";
import { ListPageSkeleton } from "@/app/_ui/page/skeletons";
import { suspended } from "../content-page";
import { ModelsView } from "./models-view";

export const metadata: Metadata = { title: "Model providers" };

async function Models() {
  const prefetch = await createPrefetch();
  await prefetch.queryClient.fetchQuery(prefetch.trpc.models.list.queryOptions());
  return (
    <Prefetched from={prefetch}>
      <ModelsView />
    </Prefetched>
  );
}

export default suspended(
  Models,
  <ListPageSkeleton columns={["Model", "Input", "Output", "Agents"]} title="Model providers" />,
);
