import type { Metadata } from "next";
import { Prefetched } from "@/app/_ui/page/prefetch";
import { MembersOnly } from "@/app/(dashboard)/_editor/members-only";
import { CopyTool } from "@/app/(dashboard)/_editor/tool/lazy-tool-editor";
import { prefetchEdited } from "../../../_editor/prefetch-edited";

export const metadata: Metadata = { title: "New tool" };

export default async function CopyToolPage({ params }: PageProps<"/tools/[toolId]/copy">) {
  const { toolId } = await params;
  return (
    <Prefetched from={await prefetchEdited("tool", toolId)}>
      <MembersOnly kind="tool" title="New tool">
        <CopyTool toolId={toolId} />
      </MembersOnly>
    </Prefetched>
  );
}
