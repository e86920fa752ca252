import type { Metadata } from "next";
import { Prefetched } from "@/app/_ui/prefetch";
import { prefetchEdited } from "../../../_editor/prefetch-edited";
import { CopyTool } from "../../../_editor/tool-editor";

export const metadata: Metadata = { title: "New tool" };

export default async function CopyToolPage({ params }: PageProps<"/tools/[toolId]/copy">) {
  const { toolId } = await params;
  return (
    <Prefetched from={await prefetchEdited("tool", toolId)}>
      <CopyTool toolId={toolId} />
    </Prefetched>
  );
}
