import type { Metadata } from "next";
import { PageHead } from "@/app/_ui/page/page";
import { prefetchedPage } from "../../content-page";
import { SchedulesSkeleton, SchedulesView } from "./schedules-view";

export const metadata: Metadata = { title: "Schedules" };

export default prefetchedPage(
  async ({ queryClient, trpc }) => {
    await queryClient.fetchQuery(trpc.schedules.list.queryOptions());
    return <SchedulesView />;
  },
  <>
    <PageHead title="Schedules" />
    <SchedulesSkeleton />
  </>,
);
