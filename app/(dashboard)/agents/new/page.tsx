import type { Metadata } from "next";
import { createPrefetch, Prefetched } from "@/app/_ui/page/prefetch";
import { NewAgent } from "@/app/(dashboard)/_editor/agent/agent-editor";

export const metadata: Metadata = { title: "New agent" };

export default async function NewAgentPage() {
  const prefetch = await createPrefetch();
  await prefetch.queryClient.prefetchQuery(prefetch.trpc.definitions.choices.queryOptions());
  return (
    <Prefetched from={prefetch}>
      <NewAgent />
    </Prefetched>
  );
}
