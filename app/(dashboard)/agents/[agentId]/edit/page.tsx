import type { Metadata } from "next";
import { Prefetched } from "@/app/_ui/page/prefetch";
import { EditAgent } from "@/app/(dashboard)/_editor/agent/agent-editor";
import { MembersOnly } from "@/app/(dashboard)/_editor/members-only";
import { prefetchEdited } from "../../../_editor/prefetch-edited";

export const metadata: Metadata = { title: "Edit agent" };

export default async function EditAgentPage({ params }: PageProps<"/agents/[agentId]/edit">) {
  const { agentId } = await params;
  return (
    <Prefetched from={await prefetchEdited("agent", agentId)}>
      <MembersOnly kind="agent" title="Edit agent">
        <EditAgent agentId={agentId} />
      </MembersOnly>
    </Prefetched>
  );
}
