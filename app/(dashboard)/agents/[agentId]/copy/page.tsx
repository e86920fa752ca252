import type { Metadata } from "next";
import { Prefetched } from "@/app/_ui/page/prefetch";
import { CopyAgent } from "@/app/(dashboard)/_editor/agent/agent-editor";
import { MembersOnly } from "@/app/(dashboard)/_editor/members-only";
import { prefetchEdited } from "../../../_editor/prefetch-edited";

export const metadata: Metadata = { title: "New agent" };

export default async function CopyAgentPage({ params }: PageProps<"/agents/[agentId]/copy">) {
  const { agentId } = await params;
  return (
    <Prefetched from={await prefetchEdited("agent", agentId)}>
      <MembersOnly kind="agent" title="New agent">
        <CopyAgent agentId={agentId} />
      </MembersOnly>
    </Prefetched>
  );
}
