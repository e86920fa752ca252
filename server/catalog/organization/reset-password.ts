import { z } from "zod";
import { type Actor, roleCovers } from "@/server/base/actor";
import { recordAudit, recordInstallationAudit } from "@/server/base/audit";
import type { Transaction } from "@/server/base/db/client";
import type { OneTimeLink } from "@/server/base/db/generated/client";
import { transactPrisma } from "@/server/base/db/transaction";
import { AppError } from "@/server/base/errors";
import { parseInput } from "@/server/base/issues";
import { mintOrgId } from "@/server/base/mint-org-id";
import { setPassword } from "@/server/catalog/auth/accounts";
import { findLink, takeLink } from "@/server/catalog/auth/one-time-links";
import type { Services } from "@/server/catalog/services";
import { MAX_PASSWORD_LENGTH, MIN_PASSWORD_LENGTH } from "@/server/contract/limits";
import { lockCatalog, personLock } from "../change";

const GONE = "This link was used or replaced, or it has expired. Ask for a new one.";

type LinkServices = Pick<Services, "db" | "clock">;

/** Returns the email of the person whose password a link sets. Throws `not_found`. */
export async function readPasswordLink(services: LinkServices, token: string): Promise<{ email: string }> {
  const { email } = await findOpen(services.db, token, services.clock.now());
  return { email };
}

const newPassword = z.strictObject({
  password: z.string().min(MIN_PASSWORD_LENGTH).max(MAX_PASSWORD_LENGTH),
});

/** Uses a link: sets the password and signs the person out everywhere. Throws `not_found`, `invalid_request`. */
export async function resetPassword(
  services: LinkServices,
  { token, input }: { token: string; input: unknown },
): Promise<{ email: string }> {
  const { email } = await findOpen(services.db, token, services.clock.now());
  const { password } = parseInput(newPassword, input);
  return transactPrisma(services.db, "catalog", async (tx) => {
    // Memberships do not change meanwhile.
    await lockCatalog(tx, [personLock(email)]);
    const at = services.clock.now();
    const person = await findOpen(tx, token, at);
    await takeLink(tx, person.linkId, GONE);
    await setPassword(tx, { userId: person.id, password, at });
    await recordPasswordAudit(tx, person, { verb: "password_reset", at });
    return { email };
  });
}

/** Sets a person's password and signs them out everywhere, for the operator. Throws `not_found`. */
export async function setPasswordOf(
  services: LinkServices,
  { email, password }: { email: string; password: string },
  operatorName = "operator",
): Promise<void> {
  const at = services.clock.now();
  await transactPrisma(services.db, "catalog", async (tx) => {
    await lockCatalog(tx, [personLock(email)]);
    const person = await tx.user.findUnique({ where: { email }, select: { id: true, email: true } });
    if (person === null) throw new AppError("not_found", `${email} has no account.`);
    await setPassword(tx, { userId: person.id, password, at });
    await recordPasswordAudit(tx, person, { verb: "password_set", operatorName, at });
  });
}

/**
 * Records a change in the audit logs of the person's organizations, or of the installation if there are none.
 * Without `operatorName` the person has made it.
 */
export async function recordPasswordAudit(
  tx: Transaction,
  { id, email }: { id: string; email: string },
  {
    verb,
    operatorName,
    at,
  }: { verb: "password_set" | "password_reset" | "password_link_created"; operatorName?: string; at: Date },
): Promise<void> {
  const members = await tx.member.findMany({
    where: { userId: id },
    select: { organizationId: true, role: true, user: { select: { name: true } } },
  });
  for (const { organizationId, role, user } of members) {
    const orgId = mintOrgId(organizationId);
    const actor: Actor =
      operatorName === undefined
        ? { kind: "member", orgId, userId: id, name: user.name, role }
        : { kind: "operator", orgId, name: operatorName };
    await recordAudit({ tx, actor, at }, { verb, subject: { kind: "member", id, name: email } });
  }
  if (members.length > 0) return;
  const subject = { kind: "user" as const, id, name: email };
  const actorName = operatorName ?? email;
  await recordInstallationAudit(tx, { actorName, action: `user.${verb}`, subject, changes: {}, at });
}

async function findOpen(
  db: Pick<Transaction, "oneTimeLink" | "user" | "member">,
  token: string,
  now: Date,
): Promise<{ linkId: string; id: string; email: string }> {
  const link = await findLink(db, { purpose: "password", token, now, gone: GONE });
  const found = await db.user.findUnique({
    where: { id: link.userId ?? "" },
    select: { id: true, email: true, operatorSince: true },
  });
  if (found === null || !(await isStillAllowed(db, link, found))) throw new AppError("not_found", GONE);
  return { linkId: link.id, id: found.id, email: found.email };
}

// The person must belong to no other organization and be no operator, and the admin could still make the link.
async function isStillAllowed(
  db: Pick<Transaction, "member">,
  { organizationId, createdBy }: OneTimeLink,
  { id: userId, operatorSince }: { id: string; operatorSince: Date | null },
): Promise<boolean> {
  if (organizationId === null) return true;
  if (operatorSince !== null) return false;
  const [member, ...others] = await db.member.findMany({ where: { userId }, take: 2 });
  if (member === undefined || others.length > 0 || member.organizationId !== organizationId) return false;
  const admin = await db.member.findFirst({ where: { organizationId, userId: createdBy ?? "" } });
  return admin !== null && roleCovers(admin.role, member.role === "owner" ? "owner" : "admin");
}
