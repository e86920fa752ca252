import type { Metadata } from "next";
import { redirect } from "next/navigation";
import { createPrefetch, Prefetched, plainPage } from "../content-page";
import { FirstStepsView } from "./first-steps-view";

export const metadata: Metadata = { title: "Get started" };

/** Leads a new organization to its first completed run; afterwards this address shows the runs. */
export default plainPage(async () => {
  const prefetch = await createPrefetch();
  const steps = await prefetch.queryClient.fetchQuery(prefetch.trpc.organization.firstSteps.queryOptions());
  if (steps.completed) redirect("/runs");
  return (
    <Prefetched from={prefetch}>
      <FirstStepsView />
    </Prefetched>
  );
});
