import type { Metadata } from "next";
import { ListPageSkeleton } from "@/app/_ui/page/skeletons";
import { prefetchedPage } from "../content-page";
import { ModelsView } from "./models-view";

export const metadata: Metadata = { title: "Model providers" };

export default prefetchedPage(
  async ({ queryClient, trpc }) => {
    await queryClient.fetchQuery(trpc.models.list.queryOptions());
    return <ModelsView />;
  },
  <ListPageSkeleton
    columns={["Model", "Context", "Input", "Cached", "Output", "Agents"]}
    title="Model providers"
  />,
);
