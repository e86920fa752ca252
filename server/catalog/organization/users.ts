import type { OperatorActor } from "@/server/base/actor";
import { recordAudit, recordInstallationAudit } from "@/server/base/audit";
import type { Transaction } from "@/server/base/db/client";
import { transactPrisma } from "@/server/base/db/transaction";
import { AppError } from "@/server/base/errors";
import { type CatalogServices, lockCatalog, organizationLock, personLock } from "../change";
import { operatorOf } from "./organizations";

export type RemovedUser = {
  organizations: string[];
  /** Usable API keys that the person created: they keep working. */
  keys: { organization: string; name: string; prefix: string }[];
};

/**
 * Deletes an account with its sessions and memberships, for the operator; its runs and API keys stay. Throws
 * `not_found`, and `invalid_request` for the last owner of an organization.
 */
export async function removeUser(
  services: Pick<CatalogServices, "db" | "clock">,
  email: string,
  operatorName = "operator",
): Promise<RemovedUser> {
  return transactPrisma(services.db, "catalog", async (tx) => {
    await lockCatalog(tx, [personLock(email)]);
    const joined = await findUser(tx, email);
    await lockCatalog(
      tx,
      joined.members.map(({ organization }) => organizationLock(organization.id)),
    );
    // Read again: a membership may have ended before the locks were taken.
    const { id, members } = await findUser(tx, email);
    await rejectLastOwner(tx, email, members);

    const at = services.clock.now();
    const keys = await listKeysMadeBy(tx, { userId: id, at });
    for (const { role, organization } of members) {
      const actor: OperatorActor = await operatorOf({ db: tx }, organization.slug, operatorName);
      const subject = { kind: "member", id, name: email } as const;
      const changes = { role: { from: role, to: null } };
      await recordAudit({ tx, actor, at }, { verb: "removed", subject, changes });
    }
    const organizations = members.map(({ organization }) => organization.slug);
    await tx.user.delete({ where: { id } });
    await recordInstallationAudit(tx, {
      actorName: operatorName,
      action: "user.removed",
      subject: { kind: "user", id, name: email },
      changes: { organizations },
      at,
    });
    return { organizations, keys };
  });
}

/** API keys that a person created and that are usable at this time, in one organization or in all. */
export async function listKeysMadeBy(
  db: Pick<Transaction, "apiKey">,
  { userId, at, organizationId }: { userId: string; at: Date; organizationId?: string },
): Promise<RemovedUser["keys"]> {
  const keys = await db.apiKey.findMany({
    where: {
      createdBy: `user:${userId}`,
      revokedAt: null,
      OR: [{ expiresAt: null }, { expiresAt: { gt: at } }],
      ...(organizationId ? { organizationId } : {}),
    },
    select: { name: true, prefix: true, organization: { select: { slug: true } } },
    orderBy: { id: "asc" },
  });
  return keys.map(({ organization, ...key }) => ({ organization: organization.slug, ...key }));
}

async function findUser(tx: Transaction, email: string) {
  const user = await tx.user.findUnique({
    where: { email },
    select: {
      id: true,
      members: {
        select: { role: true, organization: { select: { id: true, slug: true } } },
        orderBy: { organization: { slug: "asc" } },
      },
    },
  });
  if (!user) throw new AppError("not_found", `${email} has no account.`);
  return user;
}

type Membership = Awaited<ReturnType<typeof findUser>>["members"][number];

async function rejectLastOwner(tx: Transaction, email: string, members: Membership[]): Promise<void> {
  const stranded: string[] = [];
  for (const { role, organization } of members) {
    if (role !== "owner") continue;
    const owners = await tx.member.count({ where: { organizationId: organization.id, role: "owner" } });
    if (owners === 1) stranded.push(organization.slug);
  }
  if (stranded.length === 0) return;
  throw new AppError(
    "invalid_request",
    `${email} is the last owner of ${stranded.join(", ")}. Make another member owner first, or remove the organization.`,
  );
}
