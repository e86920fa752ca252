import { z } from "zod";
import { MEMBER_ROLES, type MemberActor, type MemberRole, roleCovers } from "@/server/base/actor";
import { recordAudit } from "@/server/base/audit";
import { AppError } from "@/server/base/errors";
import { newId } from "@/server/base/ids";
import { rejection } from "@/server/base/issues";
import { createUser } from "@/server/catalog/auth/accounts";
import type { Services } from "@/server/catalog/services";
import { idInput } from "@/server/contract/ids";
import { MIN_PASSWORD_LENGTH } from "@/server/contract/limits";
import { type Change, catalogVerb, type Editor, personLock, type Saved, saveItem } from "../change";
import { type MemberDefinition, memberDefinition } from "../definitions";

export type MemberLine = Awaited<ReturnType<typeof listMembers>>[number];

/** The organization's members: owners first, then by name. `self` is the reader. */
export async function listMembers({ db }: Pick<Services, "db">, actor: MemberActor) {
  const members = await db.member.findMany({
    where: { organizationId: actor.orgId },
    select: { role: true, createdAt: true, userId: true, user: { select: { name: true, email: true } } },
    orderBy: { user: { name: "asc" } },
  });
  return members
    .map(({ createdAt, user, ...member }) => ({
      ...member,
      ...user,
      joinedAt: createdAt.toISOString(),
      self: member.userId === actor.userId,
    }))
    .sort((one, two) => MEMBER_ROLES.indexOf(two.role) - MEMBER_ROLES.indexOf(one.role));
}

export type SavedMember = {
  userId: string;
  email: string;
  role: MemberRole;
  saved: Saved;
  /** The organizations of an account that existed before an operator added it here; null otherwise. */
  accountOf: string[] | null;
};

/**
 * Adds a member or changes a role. Name and password apply only to a new account. Only owners add and change
 * owners, and the last owner must remain.
 */
export const saveMember = catalogVerb(
  { role: "admin", input: memberDefinition, locks: ({ email }) => [personLock(email)] },
  putMember,
);

/** Changes a member's role; the rules of `saveMember` apply. Throws also `not_found`. */
export const changeMemberRole = catalogVerb(
  { role: "admin", input: z.strictObject({ userId: idInput(), role: z.enum(MEMBER_ROLES) }) },
  async (change, { userId, role }) => {
    const { user } = await requireMember(change, userId);
    return putMember(change, { email: user.email, role });
  },
);

/** `saveMember` within a change that holds the person's lock. */
export async function putMember(change: Change, definition: MemberDefinition): Promise<SavedMember> {
  const { tx, actor, at } = change;
  const { email, role } = definition;
  const user = await tx.user.findUnique({ where: { email } });
  const found = user && (await tx.member.findUnique({ where: memberKey(actor, user.id) }));
  if (found?.role !== role) {
    requireOwnersConsent(actor, role, found?.role ?? null);
    if (found?.role === "owner") await requireAnotherOwner(change, found.id);
  }
  const userId = user?.id ?? (await createAccount(change, definition));
  const subject = { kind: "member" as const, id: userId, name: email };
  const compared = { subject, before: found && { role: found.role }, after: { role } };
  const saved = await saveItem(change, compared, () =>
    tx.member.upsert({
      where: memberKey(actor, userId),
      update: { role },
      create: { id: newId(), organizationId: actor.orgId, userId, role, createdAt: at },
    }),
  );
  const isKnown = user !== null && saved === "created" && actor.kind === "operator";
  return { userId, email, role, saved, accountOf: isKnown ? await listOthers(change, userId) : null };
}

async function listOthers({ tx, actor }: Change, userId: string): Promise<string[]> {
  const others = await tx.member.findMany({
    where: { userId, organizationId: { not: actor.orgId } },
    select: { organization: { select: { slug: true } } },
    orderBy: { organization: { slug: "asc" } },
  });
  return others.map(({ organization }) => organization.slug);
}

/** Ends a membership; the account stays. Throws `not_found`. */
export const removeMember = catalogVerb(
  { role: "admin", input: z.object({ userId: idInput() }) },
  async (change, { userId }) => {
    const { id, role, user } = await requireMember(change, userId);
    requireOwnersConsent(change.actor, role, role);
    if (role === "owner") await requireAnotherOwner(change, id);
    await change.tx.member.delete({ where: { id } });
    await recordAudit(change, {
      verb: "removed",
      subject: { kind: "member", id: userId, name: user.email },
      changes: { role: { from: role, to: null } },
    });
  },
);

const memberKey = ({ orgId }: Editor, userId: string) => ({
  organizationId_userId: { organizationId: orgId, userId },
});

/** A member of the change's organization; throws `not_found`. */
export async function requireMember({ tx, actor }: Change, userId: string) {
  const found = await tx.member.findUnique({
    where: memberKey(actor, userId),
    include: { user: { select: { email: true, operatorSince: true } } },
  });
  if (!found) throw new AppError("not_found", "Member not found.");
  return found;
}

async function createAccount({ tx, at }: Change, definition: MemberDefinition): Promise<string> {
  const { email, password, name = email.split("@")[0] ?? email } = definition;
  if (password === undefined) {
    const message = `is required: ${email} has no account yet`;
    throw rejection([{ path: "/password", message }]);
  }
  if (password.length < MIN_PASSWORD_LENGTH) {
    throw rejection([{ path: "/password", message: `must have at least ${MIN_PASSWORD_LENGTH} characters` }]);
  }
  return createUser(tx, { email, name, password, at });
}

/** Throws `forbidden` unless the actor may give the role `to` to a member with the role `from`. */
export function requireOwnersConsent(actor: Editor, to: MemberRole, from: MemberRole | null): void {
  if (actor.kind === "operator" || roleCovers(actor.role, "owner")) return;
  if (to === "owner" || from === "owner") {
    throw new AppError("forbidden", "Only an owner may appoint, change or remove an owner.");
  }
}

async function requireAnotherOwner({ tx, actor }: Change, memberId: string): Promise<void> {
  const others = await tx.member.count({
    where: { organizationId: actor.orgId, role: "owner", id: { not: memberId } },
  });
  if (others === 0) {
    throw rejection([
      { path: "/role", message: "must stay owner: an organization needs at least one owner" },
    ]);
  }
}
