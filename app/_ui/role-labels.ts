import type { MemberRole } from "@/server/auth/actor";

/** The roles' names on pages. */
export const ROLE_LABELS: Record<MemberRole, string> = {
  viewer: "Viewer",
  member: "Member",
  admin: "Admin",
  owner: "Owner",
};
