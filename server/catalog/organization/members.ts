import { z } from "zod";
import { MEMBER_ROLES, type MemberRole } from "@/server/auth/actor";
import { createUser, roleCovers } from "@/server/auth/sessions";
import { clockAt } from "@/server/clock";
import { AppError } from "@/server/errors";
import { newId } from "@/server/ids";
import { recordAudit } from "@/server/operate/audit";
import {
  auditSave,
  type CatalogServices,
  type Change,
  changeCatalog,
  compareSaved,
  type Editor,
  personLock,
  type Saved,
} from "../change";
import { type MemberDefinition, type MemberInput, memberDefinition } from "../definitions";
import { parseInput, refusal } from "../issues";

export type SavedMember = { userId: string; email: string; role: MemberRole; saved: Saved };

/**
 * Adds a member or changes a member's role. Creates an account if the email has none; name and password apply only
 * then. Needs the role admin. Only owners add and change owners, and the last owner must remain.
 */
export async function saveMember(
  services: CatalogServices,
  actor: Editor,
  input: MemberInput,
): Promise<SavedMember> {
  const definition = parseInput(memberDefinition, input);
  const work = (change: Change) => putMember(change, definition);
  return changeCatalog(services, { actor, role: "admin", locks: [personLock(definition.email)] }, work);
}

export const roleChange = z.strictObject({ userId: z.uuid(), role: z.enum(MEMBER_ROLES) });

/** Changes a member's role. Needs the role admin; the rules of `saveMember` apply. Throws also `not_found`. */
export async function changeMemberRole(
  services: CatalogServices,
  actor: Editor,
  input: z.input<typeof roleChange>,
): Promise<SavedMember> {
  const { userId, role } = parseInput(roleChange, input);
  return changeCatalog(services, { actor, role: "admin" }, async (change) => {
    const found = await change.tx.member.findUnique({
      where: { organizationId_userId: { organizationId: actor.orgId, userId } },
      select: { user: { select: { email: true } } },
    });
    if (!found) throw new AppError("not_found", "Member not found.");
    return putMember(change, { email: found.user.email, role });
  });
}

/** `saveMember` within a change that holds the person's lock. */
export async function putMember(change: Change, definition: MemberDefinition): Promise<SavedMember> {
  const { tx, actor, at } = change;
  const { email, role } = definition;
  const user = await tx.user.findUnique({ where: { email } });
  const found =
    user &&
    (await tx.member.findUnique({
      where: { organizationId_userId: { organizationId: actor.orgId, userId: user.id } },
    }));
  const before = found && { role: found.role };
  const { saved } = compareSaved(found && { deletedAt: null }, before, { role });
  if (found && saved === "unchanged") return { userId: found.userId, email, role, saved };
  requireOwnersConsent(actor, role, found?.role ?? null);
  if (found?.role === "owner") await requireAnotherOwner(change, found.id);

  const userId = user?.id ?? (await createAccount(change, definition));
  if (found) await tx.member.update({ where: { id: found.id }, data: { role } });
  else {
    await tx.member.create({
      data: { id: newId(), organizationId: actor.orgId, userId, role, createdAt: at },
    });
  }
  await auditSave(change, {
    saved,
    subject: { kind: "member", id: userId, name: email },
    before,
    after: { role },
  });
  return { userId, email, role, saved };
}

/** Ends a membership; the account stays. Needs the role admin. Throws `not_found`, `forbidden`, `invalid_request`. */
export async function removeMember(
  services: CatalogServices,
  actor: Editor,
  { userId }: { userId: string },
): Promise<void> {
  await changeCatalog(services, { actor, role: "admin" }, async (change) => {
    const { tx } = change;
    const found = await tx.member.findUnique({
      where: { organizationId_userId: { organizationId: actor.orgId, userId } },
      include: { user: { select: { email: true } } },
    });
    if (!found) throw new AppError("not_found", "Member not found.");
    requireOwnersConsent(actor, found.role, found.role);
    if (found.role === "owner") await requireAnotherOwner(change, found.id);
    await tx.member.delete({ where: { id: found.id } });
    await recordAudit(change, {
      verb: "removed",
      subject: { kind: "member", id: userId, name: found.user.email },
      changes: { role: { from: found.role, to: null } },
    });
  });
}

async function createAccount({ tx, at }: Change, definition: MemberDefinition): Promise<string> {
  const { email, password, name = email.split("@")[0] ?? email } = definition;
  if (password === undefined) {
    const message = `is required: ${email} has no account yet`;
    throw refusal([{ path: "/password", message }]);
  }
  return createUser({ db: tx, clock: clockAt(at) }, { email, name, password });
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
    throw refusal([{ path: "/role", message: "must stay owner: an organization needs at least one owner" }]);
  }
}
