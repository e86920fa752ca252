import type { TRPCOptionsProxy } from "@trpc/tanstack-react-query";
import type { DashboardRouter } from "@/server/api/dashboard/router";
import { AUDIT_SUBJECTS, type AuditSubject } from "@/server/contract/enums";

/** The kind of subject in the URL; null for all. */
export function readSubject(text: string | string[] | null | undefined): AuditSubject | null {
  return AUDIT_SUBJECTS.find((subject) => subject === text) ?? null;
}

/** The audit log as an infinite query, used on the server and in the browser. */
export function auditQuery(trpc: TRPCOptionsProxy<DashboardRouter>, subject: AuditSubject | null) {
  return trpc.organization.audit.infiniteQueryOptions(
    { limit: 50, ...(subject ? { subject } : {}) },
    { getNextPageParam: (page) => page.nextCursor, initialCursor: null },
  );
}
