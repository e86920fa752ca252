import type { Metadata } from "next";
import { definitionItemPage } from "../../_definitions/detail/item-page";
import { ToolView } from "./tool-view";

export const metadata: Metadata = { title: "Tool" };

export default definitionItemPage("tool", async ({ queryClient, trpc }, toolId) => {
  await queryClient.fetchQuery(trpc.definitions.tool.queryOptions({ toolId }));
  return <ToolView toolId={toolId} />;
});
