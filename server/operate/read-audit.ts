import type { MemberActor } from "@/server/auth/actor";
import type { AuditSubject } from "@/server/contract/enums";
import type { Prisma } from "@/server/db/generated/client";
import { type PageRequest, pageOf } from "@/server/db/page";
import { toPlainData } from "@/server/db/plain-data";
import type { Services } from "@/server/services";

export type AuditLine = Awaited<ReturnType<typeof listAudit>>["items"][number];

/**
 * The organization's audit log, newest first, by cursor; `subject`: only changes of this kind. `changes` is a JSON object:
 * field → `{ from, to }`, or plain facts; without secrets.
 */
export async function listAudit(
  { db }: Services,
  actor: MemberActor,
  { cursor, subject, limit }: PageRequest & { subject?: AuditSubject | undefined },
) {
  const where: Prisma.AuditEntryWhereInput = { organizationId: actor.orgId };
  if (cursor) where.id = { lt: cursor };
  if (subject) where.subjectKind = subject;
  const rows = await db.auditEntry.findMany({
    where,
    orderBy: { id: "desc" },
    take: limit + 1,
    select: {
      id: true,
      actorName: true,
      action: true,
      subjectKind: true,
      subjectId: true,
      subjectName: true,
      changes: true,
      createdAt: true,
    },
  });
  return pageOf(toPlainData(rows), limit);
}
