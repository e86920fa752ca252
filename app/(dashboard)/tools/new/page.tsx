import type { Metadata } from "next";
import { createPrefetch, Prefetched } from "@/app/_ui/prefetch";
import { NewTool } from "../../_editor/tool-editor";

export const metadata: Metadata = { title: "New tool" };

export default async function NewToolPage() {
  const prefetch = await createPrefetch();
  await prefetch.queryClient.prefetchQuery(prefetch.trpc.definitions.choices.queryOptions());
  return (
    <Prefetched from={prefetch}>
      <NewTool />
    </Prefetched>
  );
}
