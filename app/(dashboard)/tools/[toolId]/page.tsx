import type { Metadata } from "next";
import { notFound } from "next/navigation";
import { createPrefetch, Prefetched } from "@/app/_ui/page/prefetch";
import { isUuid } from "@/server/ids";
import { DefinitionSkeleton } from "../../_definitions/definition-skeleton";
import { prefetchBeside } from "../../_definitions/query";
import { orNotFound, streamed } from "../../content-page";
import { ToolView } from "./tool-view";

export const metadata: Metadata = { title: "Tool" };

type Props = { params: Promise<{ toolId: string }> };

export default function ToolPage(props: Props) {
  return streamed(() => content(props), <DefinitionSkeleton back="Tools" />);
}

async function content({ params }: Props) {
  const { toolId } = await params;
  if (!isUuid(toolId)) notFound();
  const prefetch = await createPrefetch();
  const { queryClient, trpc } = prefetch;
  await orNotFound(queryClient.fetchQuery(trpc.definitions.tool.queryOptions({ toolId })));
  await prefetchBeside(prefetch, { kind: "tool", id: toolId });
  return (
    <Prefetched from={prefetch}>
      <ToolView toolId={toolId} />
    </Prefetched>
  );
}
