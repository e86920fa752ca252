import { z } from "zod";
import type { MemberActor } from "@/server/base/actor";
import { recordAudit } from "@/server/base/audit";
import type { Transaction } from "@/server/base/db/client";
import { toPlainData } from "@/server/base/db/plain-data";
import { transactPrisma } from "@/server/base/db/transaction";
import { AppError } from "@/server/base/errors";
import { parseInput, rejection } from "@/server/base/issues";
import { hashPassword, verifyPassword } from "@/server/catalog/auth/accounts";
import { deleteLinks } from "@/server/catalog/auth/one-time-links";
import type { Services } from "@/server/catalog/services";
import { MAX_PASSWORD_LENGTH, MIN_PASSWORD_LENGTH } from "@/server/contract/limits";
import { requireRate } from "@/server/guard/limits/rate-limit";

export type SessionLine = Awaited<ReturnType<typeof listOwnSessions>>[number];

type AccountHolder = { actor: MemberActor; sessionId: string | undefined };

const MAX_LISTED = 100;

/** The person's valid sessions: the current one, then by last use. `lastUsedAt` is exact to an hour. */
export async function listOwnSessions(
  { db, clock }: Pick<Services, "clock" | "db">,
  { actor, sessionId }: AccountHolder,
) {
  const found = await db.session.findMany({
    where: { userId: actor.userId, expiresAt: { gt: clock.now() } },
    orderBy: { updatedAt: "desc" },
    take: MAX_LISTED,
    select: { id: true, userAgent: true, ipAddress: true, createdAt: true, updatedAt: true },
  });
  return toPlainData(found)
    .map(({ updatedAt, ...line }) => ({ ...line, lastUsedAt: updatedAt, current: line.id === sessionId }))
    .sort((one, two) => Number(two.current) - Number(one.current));
}

/**
 * Signs one of the person's own browsers out, or all others than this one (null); another person's session is never
 * found.
 */
export async function endOwnSession(
  { db, clock }: Pick<Services, "clock" | "db">,
  { actor, sessionId }: AccountHolder,
  ended: string | null,
): Promise<{ ended: number }> {
  return transactPrisma(db, "short", async (tx) => {
    const where = ended === null ? othersThan(actor, sessionId) : { id: ended, userId: actor.userId };
    const { count } = await tx.session.deleteMany({ where });
    if (count > 0) await recordAccountAudit(tx, { actor, verb: "signed_out", at: clock.now() });
    return { ended: count };
  });
}

export const passwordChange = z.strictObject({
  currentPassword: z.string().min(1, "must not be empty").max(MAX_PASSWORD_LENGTH),
  newPassword: z.string().min(MIN_PASSWORD_LENGTH).max(MAX_PASSWORD_LENGTH),
  endOtherSessions: z.boolean(),
});

// Limits guesses of the current password in a browser that was left open.
const ATTEMPTS = { limit: 10, seconds: 600 };

/**
 * Changes the person's own password. The current session stays. Throws `invalid_request` for a wrong password, and
 * `rate_limited`.
 */
export async function changeOwnPassword(
  services: Services,
  { actor, sessionId }: AccountHolder,
  input: z.input<typeof passwordChange>,
): Promise<{ endedSessions: number }> {
  const { currentPassword, newPassword, endOtherSessions } = parseInput(passwordChange, input);
  const { userId } = actor;
  const message = "Too many attempts.";
  await requireRate(services, { key: `password-change:${userId}`, ...ATTEMPTS, message });
  const account = await services.db.account.findFirst({ where: { userId, providerId: "credential" } });
  const stored = account?.password;
  if (!account || !stored || !(await verifyPassword({ hash: stored, password: currentPassword }))) {
    throw wrongPassword();
  }
  if (newPassword === currentPassword) {
    throw rejection([{ path: "/newPassword", message: "must differ from the current one" }]);
  }
  const hash = await hashPassword(newPassword);
  const at = services.clock.now();
  return transactPrisma(services.db, "short", async (tx) => {
    // Two changes at once: the second finds another hash than the one it has verified.
    const { count } = await tx.account.updateMany({
      where: { id: account.id, password: stored },
      data: { password: hash, updatedAt: at },
    });
    if (count === 0) throw wrongPassword();
    const where = othersThan(actor, sessionId);
    const ended = endOtherSessions ? (await tx.session.deleteMany({ where })).count : 0;
    await deleteLinks(tx, { purpose: "password", userId });
    await recordAccountAudit(tx, { actor, verb: "password_changed", at });
    return { endedSessions: ended };
  });
}

function othersThan({ userId }: MemberActor, sessionId: string | undefined) {
  return { userId, ...(sessionId === undefined ? {} : { id: { not: sessionId } }) };
}

const wrongPassword = () => rejection([{ path: "/currentPassword", message: "is wrong" }]);

async function recordAccountAudit(
  tx: Transaction,
  { actor, verb, at }: { actor: MemberActor; verb: string; at: Date },
): Promise<void> {
  const { email } = await tx.user.findUniqueOrThrow({
    where: { id: actor.userId },
    select: { email: true },
  });
  await recordAudit({ tx, actor, at }, { verb, subject: { kind: "member", id: actor.userId, name: email } });
}

export type OrganizationLine = Awaited<ReturnType<typeof listOwnOrganizations>>[number];

export async function listOwnOrganizations({ db }: Pick<Services, "db">, actor: MemberActor) {
  const members = await db.member.findMany({
    where: { userId: actor.userId },
    select: { role: true, organization: { select: { id: true, slug: true, name: true } } },
    orderBy: { organization: { name: "asc" } },
  });
  return members.map(({ role, organization }) => ({
    ...organization,
    role,
    active: organization.id === actor.orgId,
  }));
}

/**
 * Makes an organization active in the current session. Throws not_found if the person is not a member, also if it does
 * not exist.
 */
export async function switchOrganization(
  { db }: Pick<Services, "db">,
  { actor, sessionId }: AccountHolder,
  { organizationId }: { organizationId: string },
): Promise<void> {
  const member = await db.member.findUnique({
    where: { organizationId_userId: { organizationId, userId: actor.userId } },
  });
  if (!member) throw new AppError("not_found", "You are not a member of this organization.");
  if (sessionId === undefined) throw new AppError("unauthenticated", "Sign in to continue.");
  await db.session.updateMany({
    where: { id: sessionId, userId: actor.userId },
    data: { activeOrganizationId: organizationId },
  });
}
