import type { Metadata } from "next";
import { Prefetched } from "@/app/_ui/prefetch";
import { prefetchEdited } from "../../../_editor/prefetch-edited";
import { EditTool } from "../../../_editor/tool-editor";

export const metadata: Metadata = { title: "Edit tool" };

export default async function EditToolPage({ params }: PageProps<"/tools/[toolId]/edit">) {
  const { toolId } = await params;
  return (
    <Prefetched from={await prefetchEdited("tool", toolId)}>
      <EditTool toolId={toolId} />
    </Prefetched>
  );
}
