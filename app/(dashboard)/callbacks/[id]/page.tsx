import type { Metadata } from "next";
import { PartHead } from "@/app/_ui/figures/facts";
import { DetailHeadSkeleton, FactsSkeleton } from "@/app/_ui/page/skeletons";
import { isUuid } from "@/server/base/ids";
import { itemPage } from "../../content-page";
import { deliveriesQuery, readState } from "../query";
import { CallbackView } from "./callback-view";

export const metadata: Metadata = { title: "Callback" };

export default itemPage(
  async ({ queryClient, trpc }, callbackId, search) => {
    const [state, deliveryId] = [search.state, search.delivery].map((value) => [value].flat()[0]);
    await queryClient.fetchQuery(trpc.callbacks.inspect.queryOptions({ callbackId }));
    await Promise.all([
      queryClient.prefetchInfiniteQuery(deliveriesQuery(trpc, { callbackId, state: readState(state) })),
      deliveryId && isUuid(deliveryId)
        ? queryClient.prefetchQuery(trpc.callbacks.delivery.queryOptions({ deliveryId }))
        : null,
    ]);
    return <CallbackView callbackId={callbackId} />;
  },
  <>
    <DetailHeadSkeleton back="Callbacks" />
    <FactsSkeleton label="Definition" names={["Address", "Events", "Only", "Secret"]} />
    <PartHead title="Events" />
  </>,
);
