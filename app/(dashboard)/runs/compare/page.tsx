import type { Metadata } from "next";
import { notFound } from "next/navigation";
import { createPrefetch, Prefetched } from "@/app/_ui/prefetch";
import { isUuid } from "@/server/ids";
import { Comparison } from "./comparison";
import { RunPicker } from "./run-picker";

export const metadata: Metadata = { title: "Compare runs" };

/** Two runs side by side: `?a=` and `?b=`; without `b` one is picked first. */
export default async function ComparePage({
  searchParams,
}: {
  searchParams: Promise<{ a?: string; b?: string }>;
}) {
  const { a, b } = await searchParams;
  if (!a || !isUuid(a) || (b !== undefined && !isUuid(b))) notFound();
  const prefetch = await createPrefetch();
  const { queryClient, trpc } = prefetch;
  const read = (runId: string) =>
    queryClient.fetchQuery(trpc.runs.inspect.queryOptions({ runId })).catch(() => null);
  const [first, second] = await Promise.all([read(a), b ? read(b) : null]);
  if (!first || (b && !second)) notFound();
  return (
    <Prefetched from={prefetch}>{b ? <Comparison a={a} b={b} /> : <RunPicker run={first.run} />}</Prefetched>
  );
}
