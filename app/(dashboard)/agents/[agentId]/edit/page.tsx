import type { Metadata } from "next";
import { notFound } from "next/navigation";
import { createPrefetch, Prefetched } from "@/app/_ui/prefetch";
import { isNotFound } from "@/app/request";
import { isUuid } from "@/server/ids";
import { EditAgent } from "../../../_editor/agent-editor";

export const metadata: Metadata = { title: "Edit agent" };

export default async function EditAgentPage({ params }: PageProps<"/agents/[agentId]/edit">) {
  const { agentId } = await params;
  if (!isUuid(agentId)) notFound();
  const prefetch = await createPrefetch();
  const { queryClient, trpc } = prefetch;
  await queryClient
    .fetchQuery(trpc.definitions.editAgent.queryOptions({ agentId }))
    .catch((error: unknown) => {
      if (isNotFound(error)) notFound();
      throw error;
    });
  await queryClient.prefetchQuery(trpc.definitions.choices.queryOptions());
  return (
    <Prefetched from={prefetch}>
      <EditAgent agentId={agentId} />
    </Prefetched>
  );
}
