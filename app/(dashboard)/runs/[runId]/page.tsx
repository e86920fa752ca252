import type { Metadata } from "next";
import { notFound } from "next/navigation";
import { createPrefetch, Prefetched } from "@/app/_ui/prefetch";
import { isNotFound } from "@/app/request";
import { isUuid } from "@/server/ids";
import { streamed } from "../../streamed";
import { RunBones } from "./run-bones";
import { RunView } from "./run-view";
import { chooseLine, linesOf } from "./timeline-lines";

type Props = { params: Promise<{ runId: string }>; searchParams: Promise<{ step?: string; call?: string }> };

export const metadata: Metadata = { title: "Run" };

export default function RunPage(props: Props) {
  return streamed(() => content(props), <RunBones />);
}

async function content({ params, searchParams }: Props) {
  const { runId } = await params;
  if (!isUuid(runId)) notFound();
  const prefetch = await createPrefetch();
  const { queryClient, trpc } = prefetch;
  const inspection = await queryClient
    .fetchQuery(trpc.runs.inspect.queryOptions({ runId }))
    .catch((error: unknown) => {
      if (isNotFound(error)) notFound();
      throw error;
    });
  const chosen = chooseLine(linesOf(inspection), await searchParams, inspection.run);
  if (chosen?.kind === "step") {
    await queryClient.prefetchQuery(trpc.runs.step.queryOptions({ runId, stepId: chosen.step.id }));
  } else if (chosen?.kind === "call") {
    await queryClient.prefetchQuery(trpc.runs.modelCall.queryOptions({ runId, callId: chosen.call.id }));
  }
  return (
    <Prefetched from={prefetch}>
      <RunView runId={runId} />
    </Prefetched>
  );
}
