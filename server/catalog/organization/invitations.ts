import { randomBytes } from "node:crypto";
import { z } from "zod";
import { type Actor, MEMBER_ROLES, type MemberActor } from "@/server/base/actor";
import { recordAudit } from "@/server/base/audit";
import { clockAt, DAY_MS } from "@/server/base/clock";
import { toPlainData } from "@/server/base/db/plain-data";
import { queryThrough } from "@/server/base/db/statement";
import { AppError } from "@/server/base/errors";
import { newId } from "@/server/base/ids";
import { rejection } from "@/server/base/issues";
import { sha256 } from "@/server/base/sha256";
import type { Services } from "@/server/catalog/services";
import { idInput } from "@/server/contract/ids";
import { requireRate } from "@/server/guard/limits/rate-limit";
import { type Change, catalogVerb, personLock } from "../change";
import { memberDefinition } from "../definitions";
import { requireOwnersConsent } from "./members";

const TOKEN_BYTES = 32;
const VALID_MS = 7 * DAY_MS;
const MAX_OPEN = 200;
// A new invitation shows whether a person has an account on this installation.
const PER_ORGANIZATION = { limit: 100, seconds: 3600, message: "Too many invitations were created." };

/** An invitation without its token; only the token's hash is stored. */
export type InvitationLine = Awaited<ReturnType<typeof listInvitations>>[number];

/** The organization's unused invitations, the newest first. */
export async function listInvitations({ db, clock }: Pick<Services, "clock" | "db">, actor: Actor) {
  const found = await db.invitation.findMany({
    where: { organizationId: actor.orgId },
    orderBy: { createdAt: "desc" },
    select: {
      id: true,
      email: true,
      role: true,
      createdAt: true,
      expiresAt: true,
      inviter: { select: { name: true } },
    },
  });
  const now = clock.now();
  return found.map(({ inviter, ...line }) => ({
    ...toPlainData(line),
    invitedBy: inviter.name,
    expired: line.expiresAt <= now,
  }));
}

/** A new invitation with its token, which is returned this once. */
export type NewInvitation = Awaited<ReturnType<typeof createInvitation>>;

/** Invites a person by a link that works once, for seven days, and replaces earlier ones. Only owners invite owners. Throws `rate_limited`. */
export const createInvitation = catalogVerb(
  {
    role: "admin",
    input: z.strictObject({ email: memberDefinition.shape.email, role: z.enum(MEMBER_ROLES) }),
    locks: ({ email }) => [personLock(email)],
  },
  async (change: Change<MemberActor>, { email, role }) => {
    const { tx, at, actor } = change;
    requireOwnersConsent(actor, role, null);
    const organizationId = actor.orgId;
    const within = { pool: queryThrough(tx), clock: clockAt(at) };
    await requireRate(within, { key: `invitation:${organizationId}`, ...PER_ORGANIZATION });
    const member = await tx.member.findFirst({ where: { organizationId, user: { email } } });
    if (member) {
      const message = `is already a member, with the role ${member.role}: ${email}`;
      throw rejection([{ path: "/email", message }]);
    }
    await tx.invitation.deleteMany({ where: { organizationId, expiresAt: { lte: at } } });
    const replaced = await tx.invitation.findFirst({ where: { organizationId, email } });
    if (replaced) await revoke(change, replaced);
    if ((await tx.invitation.count({ where: { organizationId } })) >= MAX_OPEN) {
      throw new AppError("invalid_request", `An organization has at most ${MAX_OPEN} open invitations.`);
    }
    const token = randomBytes(TOKEN_BYTES).toString("base64url");
    const id = newId();
    const expiresAt = new Date(at.getTime() + VALID_MS);
    const invitedBy = actor.userId;
    const tokenHash = sha256(token);
    const data = { id, organizationId, email, role, tokenHash, invitedBy, createdAt: at, expiresAt };
    await tx.invitation.create({ data });
    await recordAudit(change, {
      verb: "created",
      subject: { kind: "invitation", id, name: email },
      changes: { role: { from: null, to: role } },
    });
    return { id, email, role, token, expiresAt: expiresAt.toISOString() };
  },
);

/** Deletes an invitation, whose link then no longer works. Throws `not_found`. */
export const revokeInvitation = catalogVerb(
  { role: "admin", input: z.object({ id: idInput() }) },
  async (change, { id }) => {
    const { tx, actor } = change;
    const found = await tx.invitation.findFirst({ where: { id, organizationId: actor.orgId } });
    if (!found) throw new AppError("not_found", "Invitation not found. It may have been used.");
    await revoke(change, found);
  },
);

async function revoke(change: Change, { id, email }: { id: string; email: string }): Promise<void> {
  await change.tx.invitation.delete({ where: { id } });
  await recordAudit(change, { verb: "revoked", subject: { kind: "invitation", id, name: email } });
}
