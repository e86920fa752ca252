import type { Metadata } from "next";
import { notFound } from "next/navigation";
import { createPrefetch, Prefetched } from "@/app/_ui/page/prefetch";
import { ANSWER_LIMIT, isLong } from "@/app/_ui/text/long-text";
import { type FirstView, firstViewOf } from "@/app/_ui/text/markdown/first-view";
import { isUuid } from "@/server/ids";
import type { RunDetail } from "@/server/runs/read/inspect/inspect";
import { orNotFound, streamed } from "../../content-page";
import { prefetchLine } from "./inspector/line-query";
import { chooseLine, type LineAddress, runToUnfold } from "./line-address";
import { linesOf, rowsOf, withGroups } from "./lines";
import { RunView } from "./run-view";
import { RunSkeleton } from "./skeleton";

type Props = { params: Promise<{ runId: string }>; searchParams: Promise<LineAddress> };

export const metadata: Metadata = { title: "Run" };

export default function RunPage(props: Props) {
  return streamed(() => content(props), <RunSkeleton />);
}

async function content({ params, searchParams }: Props) {
  const { runId } = await params;
  if (!isUuid(runId)) notFound();
  const prefetch = await createPrefetch();
  const { queryClient, trpc } = prefetch;
  const inspection = await orNotFound(queryClient.fetchQuery(trpc.runs.inspect.queryOptions({ runId })));
  const address = await searchParams;
  const inner = runToUnfold(address, inspection.steps);
  const unfolded = inner
    ? await queryClient.fetchQuery(trpc.runs.inspect.queryOptions({ runId: inner })).catch(() => null)
    : null;
  const runs = new Map(unfolded ? [[unfolded.run.id, unfolded]] : []);
  const lines = rowsOf(withGroups(linesOf(inspection, { runs, attempts: new Set() })));
  const chosen = chooseLine(lines, address, inspection.run);
  if (chosen) await prefetchLine(prefetch, chosen);
  return (
    <Prefetched from={prefetch}>
      <RunView answer={firstAnswerOf(inspection.run)} runId={runId} />
    </Prefetched>
  );
}

/** An agent's answer; null for documents, which the browser draws. */
function firstAnswerOf({ kind, output }: RunDetail): FirstView | null {
  if (kind !== "agent" || !output || /^\s*[[{]/.test(output.text)) return null;
  return firstViewOf(output.text, isLong(output.text, ANSWER_LIMIT));
}
