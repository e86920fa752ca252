import { notFound } from "next/navigation";
import { createPrefetch } from "@/app/_ui/page/prefetch";
import { isUuid } from "@/server/ids";
import { orNotFound } from "../content-page";

/** On the server: fetches what an editor of an existing agent or tool needs. Unknown ids show the not-found page. */
export async function prefetchEdited(kind: "agent" | "tool", id: string) {
  if (!isUuid(id)) notFound();
  const prefetch = await createPrefetch();
  const { queryClient, trpc } = prefetch;
  const edited =
    kind === "agent"
      ? queryClient.fetchQuery(trpc.definitions.editAgent.queryOptions({ agentId: id }))
      : queryClient.fetchQuery(trpc.definitions.editTool.queryOptions({ toolId: id }));
  await orNotFound<unknown>(edited);
  await queryClient.prefetchQuery(trpc.definitions.choices.queryOptions());
  if (kind === "tool") await queryClient.prefetchQuery(trpc.definitions.functions.queryOptions());
  return prefetch;
}
