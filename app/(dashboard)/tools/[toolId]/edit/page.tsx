import type { Metadata } from "next";
import { notFound } from "next/navigation";
import { createPrefetch, Prefetched } from "@/app/_ui/prefetch";
import { isNotFound } from "@/app/request";
import { isUuid } from "@/server/ids";
import { EditTool } from "../../../_editor/tool-editor";

export const metadata: Metadata = { title: "Edit tool" };

export default async function EditToolPage({ params }: PageProps<"/tools/[toolId]/edit">) {
  const { toolId } = await params;
  if (!isUuid(toolId)) notFound();
  const prefetch = await createPrefetch();
  const { queryClient, trpc } = prefetch;
  await queryClient.fetchQuery(trpc.definitions.editTool.queryOptions({ toolId })).catch((error: unknown) => {
    if (isNotFound(error)) notFound();
    throw error;
  });
  await queryClient.prefetchQuery(trpc.definitions.choices.queryOptions());
  return (
    <Prefetched from={prefetch}>
      <EditTool toolId={toolId} />
    </Prefetched>
  );
}
