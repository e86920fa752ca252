import type { Metadata } from "next";
import { Prefetched } from "@/app/_ui/page/prefetch";
import { MembersOnly } from "@/app/(dashboard)/_editor/members-only";
import { EditTool } from "@/app/(dashboard)/_editor/tool/lazy-tool-editor";
import { prefetchEdited } from "../../../_editor/prefetch-edited";

export const metadata: Metadata = { title: "Edit tool" };

export default async function EditToolPage({ params }: PageProps<"/tools/[toolId]/edit">) {
  const { toolId } = await params;
  return (
    <Prefetched from={await prefetchEdited("tool", toolId)}>
      <MembersOnly kind="tool" title="Edit tool">
        <EditTool toolId={toolId} />
      </MembersOnly>
    </Prefetched>
  );
}
