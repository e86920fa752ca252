import type { Metadata } from "next";
import { PartHead } from "@/app/_ui/figures/facts";
import { DetailHeadSkeleton, FactsSkeleton } from "@/app/_ui/page/skeletons";
import { itemPage } from "../../content-page";
import { ticksQuery } from "./query";
import { ScheduleView } from "./schedule-view";
import { TicksSkeleton } from "./ticks";

export const metadata: Metadata = { title: "Schedule" };

export default itemPage(
  async ({ queryClient, trpc }, scheduleId) => {
    await queryClient.fetchQuery(trpc.schedules.inspect.queryOptions({ scheduleId }));
    await queryClient.prefetchInfiniteQuery(ticksQuery(trpc, scheduleId));
    return <ScheduleView scheduleId={scheduleId} />;
  },
  <>
    <DetailHeadSkeleton back="Schedules" />
    <FactsSkeleton label="Definition" names={["Next", "Starts", "Times", "Overlap", "Catch-up", "Message"]} />
    <PartHead title="Last times" />
    <TicksSkeleton />
  </>,
);
