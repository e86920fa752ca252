import type { Metadata } from "next";
import { ANSWER_LIMIT, isLong } from "@/app/_ui/text/long-text";
import { type FirstView, firstViewOf } from "@/app/_ui/text/markdown/first-view";
import type { RunDetail } from "@/server/runs/read/inspect/inspect";
import { itemPage } from "../../content-page";
import { paramsOf } from "../address";
import { chooseLine, readLineAddress, runToUnfold } from "./line-address";
import { prefetchLine } from "./line-query";
import { linesOf, rowsOf, withGroups } from "./lines";
import { RunView } from "./run-view";
import { RunSkeleton } from "./skeleton";

export const metadata: Metadata = { title: "Run" };

export default itemPage(
  async (prefetch, runId, search) => {
    const { queryClient, trpc } = prefetch;
    const inspection = await queryClient.fetchQuery(trpc.runs.inspect.queryOptions({ runId }));
    const address = readLineAddress(paramsOf(search));
    const inner = runToUnfold(address, inspection.steps);
    const unfolded = inner
      ? await queryClient.fetchQuery(trpc.runs.inspect.queryOptions({ runId: inner })).catch(() => null)
      : null;
    const runs = new Map(unfolded ? [[unfolded.run.id, unfolded]] : []);
    const lines = rowsOf(withGroups(linesOf(inspection, { runs, attempts: new Set() })));
    const chosen = chooseLine(lines, address, inspection.run);
    if (chosen) await prefetchLine(prefetch, chosen);
    return <RunView answer={firstAnswerOf(inspection.run)} runId={runId} />;
  },
  <RunSkeleton />,
  "runId",
);

/** Null for documents, which the browser draws. */
function firstAnswerOf({ kind, output }: RunDetail): FirstView | null {
  if (kind !== "agent" || !output || /^\s*[[{]/.test(output.text)) return null;
  return firstViewOf(output.text, isLong(output.text, ANSWER_LIMIT));
}
