import { recordInstallationAudit } from "@/server/base/audit";
import type { Transaction } from "@/server/base/db/client";
import { transactPrisma } from "@/server/base/db/transaction";
import { AppError } from "@/server/base/errors";
import type { Services } from "@/server/catalog/services";
import { lockCatalog, personLock } from "../change";

/**
 * Operators see the page System. Only the command line and the first start make one, never an organization's admin.
 * They see nothing of organizations to which they don't belong, besides counts.
 */

export async function isOperator({ db }: Pick<Services, "db">, userId: string): Promise<boolean> {
  const user = await db.user.findUnique({ where: { id: userId }, select: { operatorSince: true } });
  return user !== null && user.operatorSince !== null;
}

export async function listOperators({ db }: Pick<Services, "db">) {
  const users = await db.user.findMany({
    where: { operatorSince: { not: null } },
    select: { email: true, name: true, operatorSince: true },
    orderBy: { email: "asc" },
  });
  return users.flatMap(({ operatorSince, ...user }) =>
    operatorSince === null ? [] : [{ ...user, since: operatorSince }],
  );
}

type Choice = { email: string; isOperator: boolean };

/** Makes a person an operator, or no longer one. Returns false if nothing changed. Throws `not_found`. */
export async function setOperator(
  { db, clock }: Pick<Services, "db" | "clock">,
  choice: Choice,
  operatorName = "operator",
): Promise<boolean> {
  return transactPrisma(db, "catalog", async (tx) => {
    await lockCatalog(tx, [personLock(choice.email)]);
    return putOperator(tx, { ...choice, operatorName, at: clock.now() });
  });
}

/** `setOperator` within a transaction that holds the person's lock. */
export async function putOperator(
  tx: Transaction,
  { email, isOperator: wanted, operatorName, at }: Choice & { operatorName: string; at: Date },
): Promise<boolean> {
  const user = await tx.user.findUnique({ where: { email }, select: { id: true, operatorSince: true } });
  if (user === null) throw new AppError("not_found", `${email} has no account.`);
  if ((user.operatorSince !== null) === wanted) return false;
  await tx.user.update({ where: { id: user.id }, data: { operatorSince: wanted ? at : null } });
  await recordInstallationAudit(tx, {
    actorName: operatorName,
    action: wanted ? "user.operator_added" : "user.operator_removed",
    subject: { kind: "user", id: user.id, name: email },
    changes: {},
    at,
  });
  return true;
}
