import type { Metadata } from "next";
import { Empty, PageHead } from "@/app/_ui/page/page";
import { createPrefetch, Prefetched } from "@/app/_ui/page/prefetch";
import { LinesSkeleton } from "@/app/_ui/page/skeletons";
import { ROLE_LABELS } from "@/app/(dashboard)/members/roles";
import { requirePageMember } from "@/app/request";
import { roleCovers } from "@/server/auth/sessions";
import { suspended } from "../content-page";
import { AuditView } from "./audit-view";
import { auditQuery, readSubject } from "./query";

export const metadata: Metadata = { title: "Audit log" };

async function Audit({ searchParams }: PageProps<"/audit">) {
  const { actor } = await requirePageMember();
  if (!roleCovers(actor.role, "admin")) {
    return (
      <>
        <PageHead title="Audit log" />
        <Empty title="Only admins and owners can read the audit log">
          <p>Your role here is {ROLE_LABELS[actor.role]}. An owner can change it.</p>
        </Empty>
      </>
    );
  }
  const prefetch = await createPrefetch();
  const subject = readSubject((await searchParams).subject);
  await prefetch.queryClient.prefetchInfiniteQuery(auditQuery(prefetch.trpc, subject));
  return (
    <Prefetched from={prefetch}>
      <PageHead title="Audit log" />
      <AuditView />
    </Prefetched>
  );
}

export default suspended(
  Audit,
  <>
    <PageHead title="Audit log" />
    <LinesSkeleton />
  </>,
);
