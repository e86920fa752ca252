import type { Metadata } from "next";
import { detailPage } from "../../_definitions/detail-page";
import { ToolView } from "./tool-view";

export const metadata: Metadata = { title: "Tool" };

export default detailPage("tool", async ({ queryClient, trpc }, toolId) => {
  await queryClient.fetchQuery(trpc.definitions.tool.queryOptions({ toolId }));
  return <ToolView toolId={toolId} />;
});
