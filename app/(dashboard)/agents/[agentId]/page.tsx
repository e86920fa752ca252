import type { Metadata } from "next";
import { notFound } from "next/navigation";
import { createPrefetch, Prefetched } from "@/app/_ui/page/prefetch";
import { isLong, PROMPT_LIMIT } from "@/app/_ui/text/long-text";
import { firstViewOf } from "@/app/_ui/text/markdown/first-view";
import { isMarkedUp } from "@/app/_ui/text/markdown/marked-up";
import { isUuid } from "@/server/ids";
import { DefinitionSkeleton } from "../../_definitions/definition-skeleton";
import { prefetchBeside } from "../../_definitions/query";
import { orNotFound, streamed } from "../../content-page";
import { AgentView } from "./agent-view";

export const metadata: Metadata = { title: "Agent" };

type Props = { params: Promise<{ agentId: string }> };

export default function AgentPage(props: Props) {
  return streamed(() => content(props), <DefinitionSkeleton back="Agents" />);
}

async function content({ params }: Props) {
  const { agentId } = await params;
  if (!isUuid(agentId)) notFound();
  const prefetch = await createPrefetch();
  const { queryClient, trpc } = prefetch;
  const { systemPrompt } = await orNotFound(
    queryClient.fetchQuery(trpc.definitions.agent.queryOptions({ agentId })),
  );
  await prefetchBeside(prefetch, { kind: "agent", id: agentId });
  return (
    <Prefetched from={prefetch}>
      <AgentView
        agentId={agentId}
        prompt={
          isMarkedUp(systemPrompt) ? firstViewOf(systemPrompt, isLong(systemPrompt, PROMPT_LIMIT)) : null
        }
      />
    </Prefetched>
  );
}
