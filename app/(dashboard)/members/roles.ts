import type { MemberRole } from "@/server/base/actor";
import type { MemberLine } from "@/server/catalog/organization/members";

export const ROLE_LABELS: Record<MemberRole, string> = {
  viewer: "Viewer",
  member: "Member",
  admin: "Admin",
  owner: "Owner",
};

/** The permissions of each role: a sentence without its period. */
export const ROLE_PERMISSIONS: Record<MemberRole, string> = {
  owner: "Can do everything, including managing owners",
  admin: "Can do what members can, manage keys and members, and read the audit log",
  member: "Can view everything, start and cancel runs, and change agents, tools and triggers",
  viewer: "Can view everything",
};

/** The reason why the reader may not change or remove a member; null if they may. The server checks the same rules. */
export function rejectionFor(
  member: MemberLine,
  { isOwner, owners }: { isOwner: boolean; owners: number },
): string | null {
  if (member.role !== "owner") return null;
  if (!isOwner) return "Only an owner can change or remove an owner.";
  return owners === 1 ? "The last owner stays. Make another member owner first." : null;
}
