import type { Metadata } from "next";
import { createPrefetch, Prefetched } from "@/app/_ui/page/prefetch";
import { NewAgent } from "@/app/(dashboard)/_editor/agent/agent-editor";
import { AGENT_STARTERS } from "@/app/(dashboard)/_editor/agent/starters";
import { MembersOnly } from "@/app/(dashboard)/_editor/members-only";

export const metadata: Metadata = { title: "New agent" };

export default async function NewAgentPage({ searchParams }: PageProps<"/agents/new">) {
  const { from } = await searchParams;
  const starter = AGENT_STARTERS.find(({ slug }) => slug === from) ?? null;
  const prefetch = await createPrefetch();
  await prefetch.queryClient.prefetchQuery(prefetch.trpc.definitions.choices.queryOptions());
  return (
    <Prefetched from={prefetch}>
      <MembersOnly kind="agent" title="New agent">
        <NewAgent key={starter?.slug ?? ""} starter={starter} />
      </MembersOnly>
    </Prefetched>
  );
}
