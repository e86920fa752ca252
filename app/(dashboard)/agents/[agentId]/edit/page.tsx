import type { Metadata } from "next";
import { Prefetched } from "@/app/_ui/page/prefetch";
import { EditAgent } from "@/app/(dashboard)/_editor/agent/agent-editor";
import { prefetchEdited } from "../../../_editor/prefetch-edited";

export const metadata: Metadata = { title: "Edit agent" };

export default async function EditAgentPage({ params }: PageProps<"/agents/[agentId]/edit">) {
  const { agentId } = await params;
  return (
    <Prefetched from={await prefetchEdited("agent", agentId)}>
      <EditAgent agentId={agentId} />
    </Prefetched>
  );
}
