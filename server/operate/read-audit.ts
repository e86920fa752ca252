import type { MemberActor } from "@/server/auth/actor";
import type { AuditSubject } from "@/server/contract/enums";
import { type Page, pageOf } from "@/server/page";
import type { Services } from "@/server/services";

export type AuditLine = {
  id: string;
  actorName: string;
  /** `agent.updated`, `api_key.revoked`, … */
  action: string;
  subjectKind: string;
  subjectId: string | null;
  subjectName: string;
  /** A JSON object: field → `{ from, to }`, or plain facts; without secrets. */
  changes: string;
  createdAt: string;
};

export type AuditPage = Page<AuditLine>;

/** The organization's audit log, newest first, by cursor; `subject`: only changes of this kind. */
export async function listAudit(
  { db }: Services,
  actor: MemberActor,
  {
    before,
    subject,
    limit,
  }: { before?: string | undefined; subject?: AuditSubject | undefined; limit: number },
): Promise<AuditPage> {
  const rows = await db.auditEntry.findMany({
    where: {
      organizationId: actor.orgId,
      ...(before ? { id: { lt: before } } : {}),
      ...(subject ? { subjectKind: subject } : {}),
    },
    orderBy: { id: "desc" },
    take: limit + 1,
    omit: { organizationId: true, actor: true },
  });
  return pageOf(
    rows.map((row) => ({ ...row, createdAt: row.createdAt.toISOString() })),
    limit,
  );
}
