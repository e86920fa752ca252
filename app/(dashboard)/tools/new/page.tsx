import type { Metadata } from "next";
import { createPrefetch, Prefetched } from "@/app/_ui/page/prefetch";
import { MembersOnly } from "@/app/(dashboard)/_editor/members-only";
import { NewTool } from "@/app/(dashboard)/_editor/tool/lazy-tool-editor";

export const metadata: Metadata = { title: "New tool" };

export default async function NewToolPage() {
  const prefetch = await createPrefetch();
  const { queryClient, trpc } = prefetch;
  await Promise.all([
    queryClient.prefetchQuery(trpc.definitions.choices.queryOptions()),
    queryClient.prefetchQuery(trpc.definitions.functions.queryOptions()),
  ]);
  return (
    <Prefetched from={prefetch}>
      <MembersOnly kind="tool" title="New tool">
        <NewTool />
      </MembersOnly>
    </Prefetched>
  );
}
