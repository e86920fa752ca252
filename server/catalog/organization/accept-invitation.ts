import { z } from "zod";
import { type MemberActor, roleCovers } from "@/server/base/actor";
import { recordAudit } from "@/server/base/audit";
import type { Transaction } from "@/server/base/db/client";
import { transactPrisma } from "@/server/base/db/transaction";
import { AppError } from "@/server/base/errors";
import { newId } from "@/server/base/ids";
import { parseInput } from "@/server/base/issues";
import { mintOrgId } from "@/server/base/mint-org-id";
import { sha256 } from "@/server/base/sha256";
import { createUser } from "@/server/catalog/auth/accounts";
import type { Services } from "@/server/catalog/services";
import { MAX_PASSWORD_LENGTH, MIN_PASSWORD_LENGTH } from "@/server/contract/limits";
import { lockCatalog, organizationLock, personLock } from "../change";
import { memberDefinition } from "../definitions";

const newAccount = z.strictObject({
  name: memberDefinition.shape.name.unwrap(),
  password: z.string().min(MIN_PASSWORD_LENGTH).max(MAX_PASSWORD_LENGTH),
});

const GONE = "This invitation was used, revoked or replaced, or it has expired. Ask for a new one.";

/**
 * The facts of an invitation for the holder of its link. `hasAccount`: the email must sign in to join. Throws
 * `not_found`.
 */
export async function readInvitation({ db, clock }: Pick<Services, "db" | "clock">, token: string) {
  const found = await findOpen(db, token, clock.now());
  const account = await db.user.findUnique({ where: { email: found.email }, select: { id: true } });
  return {
    organization: found.organization.name,
    email: found.email,
    role: found.role,
    invitedBy: found.inviter.name,
    hasAccount: account !== null,
  };
}

type SignedIn = { id: string; userId: string };

/**
 * Makes an invitation's email a member, once, and the organization active in their session. An email without an account
 * gets one with `account`; a person with one must be signed in. Throws `not_found`, `unauthenticated`,
 * `invalid_request`.
 */
export async function acceptInvitation(
  services: Pick<Services, "db" | "clock">,
  { token, session, account }: { token: string; session: SignedIn | null; account: unknown },
): Promise<{ email: string; organization: string }> {
  const { email, organizationId } = await findOpen(services.db, token, services.clock.now());
  return transactPrisma(services.db, "catalog", async (tx) => {
    await lockCatalog(tx, [personLock(email), organizationLock(organizationId)]);
    const at = services.clock.now();
    // Another use of the link may have ended while this one waited for the locks.
    const { id, role, organization } = await findOpen(tx, token, at);
    const user = await tx.user.findUnique({ where: { email }, select: { id: true, name: true } });
    if (user && user.id !== session?.userId) {
      throw new AppError("unauthenticated", `Sign in as ${email} to join.`);
    }
    const person = user ?? (await createAccount(tx, { email, at, account }));
    const key = { organizationId, userId: person.id };
    const existing = await tx.member.findUnique({ where: { organizationId_userId: key } });
    if (!existing) await tx.member.create({ data: { id: newId(), ...key, role, createdAt: at } });
    if (user && session) {
      await tx.session.updateMany({
        where: { id: session.id, userId: user.id },
        data: { activeOrganizationId: organizationId },
      });
    }
    await tx.invitation.delete({ where: { id } });
    const orgId = mintOrgId(organizationId);
    const actor: MemberActor = { kind: "member", orgId, userId: person.id, name: person.name, role };
    await recordAudit(
      { tx, actor, at },
      {
        verb: "accepted",
        subject: { kind: "invitation", id, name: email },
        changes: existing ? {} : { role: { from: null, to: role } },
      },
    );
    return { email, organization: organization.name };
  });
}

async function createAccount(
  tx: Transaction,
  { email, at, account }: { email: string; at: Date; account: unknown },
): Promise<{ id: string; name: string }> {
  const { name, password } = parseInput(newAccount, account);
  return { id: await createUser(tx, { email, name, password, at }), name };
}

// Throws `not_found` also if the inviter could no longer give the role.
async function findOpen(db: Pick<Transaction, "invitation" | "member">, token: string, now: Date) {
  const found = await db.invitation.findUnique({
    where: { tokenHash: sha256(token) },
    include: { organization: { select: { name: true } }, inviter: { select: { name: true } } },
  });
  if (!found || found.expiresAt <= now) throw new AppError("not_found", GONE);
  const { organizationId, invitedBy: userId, role } = found;
  const inviter = await db.member.findUnique({
    where: { organizationId_userId: { organizationId, userId } },
  });
  const needed = role === "owner" ? "owner" : "admin";
  if (!inviter || !roleCovers(inviter.role, needed)) throw new AppError("not_found", GONE);
  return found;
}
