import type { Metadata } from "next";
import { PartHead } from "@/app/_ui/figures/facts";
import { DetailHeadSkeleton, FactsSkeleton } from "@/app/_ui/page/skeletons";
import { isUuid } from "@/server/base/ids";
import { itemPage } from "../../content-page";
import { weekQuery } from "../../runs/query";
import { DeliveriesSkeleton } from "./deliveries";
import { deliveriesQuery, readOutcome } from "./query";
import { TriggerView } from "./trigger-view";

export const metadata: Metadata = { title: "Trigger" };

export default itemPage(
  async ({ queryClient, trpc }, triggerId, search) => {
    const [outcome, deliveryId] = [search.outcome, search.delivery].map((value) => [value].flat()[0]);
    await queryClient.fetchQuery(trpc.triggers.inspect.queryOptions({ triggerId }));
    await Promise.all([
      queryClient.prefetchInfiniteQuery(deliveriesQuery(trpc, triggerId, readOutcome(outcome))),
      queryClient.prefetchQuery(weekQuery(trpc, { kind: "trigger", id: triggerId })),
      deliveryId && isUuid(deliveryId)
        ? queryClient.prefetchQuery(trpc.triggers.delivery.queryOptions({ deliveryId }))
        : null,
    ]);
    return <TriggerView triggerId={triggerId} />;
  },
  <>
    <DetailHeadSkeleton back="Triggers" />
    <FactsSkeleton label="Definition" names={["Address", "Starts", "Signature", "Rate limit", "Created"]} />
    <PartHead title="Deliveries" />
    <DeliveriesSkeleton />
  </>,
);
