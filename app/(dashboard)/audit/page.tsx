import type { Metadata } from "next";
import { Empty, PageHead } from "@/app/_ui/page/page";
import { roleCovers } from "@/server/base/actor";
import { prefetchedPage } from "../content-page";
import { ROLE_LABELS } from "../members/roles";
import { AuditSkeleton, AuditView } from "./audit-view";
import { auditQuery, readSubject } from "./query";

export const metadata: Metadata = { title: "Audit log" };

export default prefetchedPage(
  async ({ queryClient, trpc, actor }, { searchParams }: PageProps<"/audit">) => {
    const mayRead = roleCovers(actor.role, "admin");
    const subject = readSubject((await searchParams).subject);
    if (mayRead) await queryClient.prefetchInfiniteQuery(auditQuery(trpc, subject));
    return (
      <>
        <PageHead title="Audit log" />
        {mayRead ? (
          <AuditView />
        ) : (
          <Empty title="Only admins and owners can read the audit log">
            <p>Your role here is {ROLE_LABELS[actor.role]}. An owner can change it.</p>
          </Empty>
        )}
      </>
    );
  },
  <>
    <PageHead title="Audit log" />
    <AuditSkeleton />
  </>,
);
