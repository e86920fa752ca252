import type { Metadata } from "next";
import { Prefetched } from "@/app/_ui/page/prefetch";
import { CopyAgent } from "@/app/(dashboard)/_editor/agent/agent-editor";
import { prefetchEdited } from "../../../_editor/prefetch-edited";

export const metadata: Metadata = { title: "New agent" };

export default async function CopyAgentPage({ params }: PageProps<"/agents/[agentId]/copy">) {
  const { agentId } = await params;
  return (
    <Prefetched from={await prefetchEdited("agent", agentId)}>
      <CopyAgent agentId={agentId} />
    </Prefetched>
  );
}
