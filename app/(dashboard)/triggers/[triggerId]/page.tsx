import type { Metadata } from "next";
import { notFound } from "next/navigation";
import { PartHead } from "@/app/_ui/figures/facts";
import { createPrefetch, Prefetched } from "@/app/_ui/page/prefetch";
import { DetailHeadSkeleton, FactsSkeleton, TableSkeleton } from "@/app/_ui/page/skeletons";
import { isUuid } from "@/server/ids";
import { weekQuery } from "../../_definitions/query";
import { orNotFound, streamed } from "../../content-page";
import { deliveriesQuery, readOutcome } from "./query";
import { TriggerView } from "./trigger-view";

type Props = {
  params: Promise<{ triggerId: string }>;
  searchParams: Promise<Record<string, string | string[] | undefined>>;
};

export const metadata: Metadata = { title: "Trigger" };

export default function TriggerPage(props: Props) {
  return streamed(
    () => content(props),
    <>
      <DetailHeadSkeleton back="Triggers" />
      <FactsSkeleton label="Definition" names={["Address", "Starts", "Signature", "Rate limit", "Created"]} />
      <PartHead title="Deliveries" />
      <TableSkeleton columns={["Received", "Outcome", "Reason", "Size", "Run"]} label="Deliveries" />
    </>,
  );
}

async function content({ params, searchParams }: Props) {
  const { triggerId } = await params;
  if (!isUuid(triggerId)) notFound();
  const address = await searchParams;
  const outcome = readOutcome([address.outcome].flat()[0]);
  const delivery = [address.delivery].flat()[0];
  const prefetch = await createPrefetch();
  const { queryClient, trpc } = prefetch;
  await orNotFound(queryClient.fetchQuery(trpc.triggers.inspect.queryOptions({ triggerId })));
  await Promise.all([
    queryClient.prefetchInfiniteQuery(deliveriesQuery(trpc, triggerId, outcome)),
    queryClient.prefetchQuery(weekQuery(trpc, { kind: "trigger", id: triggerId })),
    delivery && isUuid(delivery)
      ? queryClient.prefetchQuery(trpc.triggers.delivery.queryOptions({ deliveryId: delivery }))
      : null,
  ]);
  return (
    <Prefetched from={prefetch}>
      <TriggerView triggerId={triggerId} />
    </Prefetched>
  );
}
