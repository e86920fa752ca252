"use client";

import { createContext, type ReactNode, useContext } from "react";
import { MEMBER_ROLES, type MemberRole } from "@/server/auth/actor";

/** The signed-in person's role in the active organization. */
export const RoleContext = createContext<MemberRole>("viewer");

/** Whether to offer what needs `role`. The server checks it again. */
export function useMay(role: MemberRole): boolean {
  return MEMBER_ROLES.indexOf(useContext(RoleContext)) >= MEMBER_ROLES.indexOf(role);
}

/** What is shown only to members and above. */
export function ForMembers({ children }: { children: ReactNode }) {
  return useMay("member") ? children : null;
}
