import type { MemberRole } from "@/server/base/actor";
import type { MemberLine } from "@/server/catalog/organization/members";

/** The roles' names on pages. */
export const ROLE_LABELS: Record<MemberRole, string> = {
  viewer: "Viewer",
  member: "Member",
  admin: "Admin",
  owner: "Owner",
};

/** The permissions of each role; completes a sentence such as "May do: …". */
export const ROLE_PERMISSIONS: Record<MemberRole, string> = {
  owner: "everything, including owners",
  admin: "as members; also keys, members and the audit log",
  member: "as viewers; also start and cancel runs, change agents, tools and triggers",
  viewer: "read",
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
